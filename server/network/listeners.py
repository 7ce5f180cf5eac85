"""Where the server listens, and which backend serves the clients."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import chain

from server.config.parameters import BadValue, Config
from server.network.acceptor import Acceptor
from server.network.backend import Backend, Door
from server.network.listener_kinds import Kind
from server.observe.part import Part
from server.process import build

_log = logging.getLogger("penstock")


def backend() -> Backend:
    """The backend for this machine: epoll where the system has it, else asyncio."""
    if build.uses_epoll():
        from server.network.epoll.backend import EpollBackend  # noqa: PLC0415  (on Linux alone)

        return EpollBackend()
    from server.network.asyncio_backend import AsyncioBackend  # noqa: PLC0415  (one is enough)

    return AsyncioBackend()


class Listener:
    """Listens at all addresses of one *kind*, on *port* if it has one.

    *places* are the addresses, as the configuration writes them, each with its sockets.
    """

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.port = kind.port
        self.places: dict[str, list[Door]] = {}

    @property
    def text(self) -> str:
        """What INFO says of it."""
        binds = "".join(f",bind={address}" for address in self.places)
        return f"name={self.kind.name}{binds}" + (f",port={self.port}" if self.port else "")

    def leave(self, address: str) -> None:
        """Stop listening at *address*."""
        for door in self.places.pop(address):
            door.close()

    def close(self) -> None:
        for address in list(self.places):
            self.leave(address)


class Listeners(Part):
    """A listener of each of *kinds* that the configuration wants.

    *descriptions* are INFO's lines; the number of a listener is the place of its kind.
    """

    def __init__(self, config: Config, serving: Backend, kinds: Sequence[Kind]) -> None:
        self._config = config
        self._backend = serving
        self._kinds = kinds
        self._open: dict[Kind, Listener] = {}
        self.descriptions: dict[str, str] = {}

    @property
    def kinds(self) -> list[str]:
        """The names of those that are open, as the server log has them."""
        return [kind.name for kind in self._kinds if kind in self._open]

    def open(self) -> None:
        """Listen wherever the configuration says. Raises OSError when that cannot be obtained."""
        for kind in self._kinds:
            if kind.is_wanted:
                try:
                    self._add(self._opened(kind))
                except (OSError, BadValue) as error:
                    raise kind.failure(error, kind.port) from error
        if not self._open:
            raise OSError(f"No address to listen on: see {', '.join(self._parameters())}")

    def _parameters(self) -> list[str]:
        """The parameters that say where to listen, in quotes."""
        pairs = [(kind.address_parameter, kind.port_parameter) for kind in self._kinds]
        return [f"'{name}'" for name in dict.fromkeys(chain.from_iterable(pairs)) if name]

    def _opened(self, kind: Kind) -> Listener:
        """Listen at all addresses of *kind*. Raises OSError and BadValue."""
        acceptor, listener = kind.acceptor(), Listener(kind)
        try:
            for address in kind.addresses():
                self._listen_at(address, listener, acceptor)
        except OSError:
            listener.close()
            raise
        return listener

    def _listen_at(self, address: str, listener: Listener, acceptor: Acceptor) -> None:
        doors: list[Door] = []
        sockets = listener.kind.bound(address, listener.port)
        try:
            for sock in sockets:
                door = self._backend.listen(sock, self._config.tcp_backlog, acceptor)
                doors.append(door)  # at once: a later one may fail
        except OSError:
            for door in doors:
                door.close()
            for sock in sockets[len(doors) :]:
                sock.close()
            raise
        if doors:
            listener.places.setdefault(address, []).extend(doors)

    def _add(self, listener: Listener) -> None:
        if listener.places:
            self._open[listener.kind] = listener
            self.descriptions[self._number(listener.kind)] = listener.text

    def _forget(self, kind: Kind) -> Listener | None:
        self.descriptions.pop(self._number(kind), None)
        return self._open.pop(kind, None)

    def _remove(self, kind: Kind) -> None:
        listener = self._forget(kind)
        if listener is not None:
            listener.close()

    def _number(self, kind: Kind) -> str:
        return f"listener{self._kinds.index(kind)}"

    def close(self) -> None:
        """Listen no more."""
        for kind, listener in list(self._open.items()):
            places = list(listener.places)
            self._remove(kind)
            for address in places:
                kind.left(address)

    # ------------------------------------------------------------------ CONFIG SET

    def follow_port(self, parameter: str) -> None:
        """Listen at the port that *parameter* has now; connected clients stay.

        Raises BadValue, and changes nothing, if that port cannot be obtained.
        """
        for kind in self._kinds:
            if kind.port_parameter == parameter:
                self._follow_port_of(kind)

    def _follow_port_of(self, kind: Kind) -> None:
        if kind.port == (self._open[kind].port if kind in self._open else 0):
            return
        if not kind.is_wanted:
            self._remove(kind)
            return
        try:
            listener = self._opened(kind)
        except OSError as error:
            _log.warning("Warning: %s", error)
            raise BadValue("Unable to listen on this port. Check server logs.") from None
        self._remove(kind)
        self._add(listener)

    def follow_bind(self) -> None:
        """Listen at the addresses that are configured now; connected clients stay.

        Addresses that stay keep their accept queues. Raises BadValue, and changes nothing, if the
        addresses cannot be obtained.
        """
        before = {kind: list(listener.places) for kind, listener in self._open.items()}
        moved = [kind for kind in self._kinds if kind.port_parameter]
        try:
            for kind in moved:
                self._bind_anew(kind, kind.addresses())
        except OSError as error:
            _log.warning("Warning: %s", error)
            for kind in moved:
                self._bind_back(kind, before.get(kind, []))
            raise BadValue("Failed to bind to specified addresses.") from None

    def _bind_anew(self, kind: Kind, addresses: Sequence[str]) -> None:
        """Listen at *addresses*, and nowhere else. Raises OSError halfway if one fails."""
        listener = self._open.get(kind) or Listener(kind)
        if not kind.port or listener.port != kind.port:  # its port is set, too: see follow_port
            return
        acceptor = kind.acceptor()
        for address in [place for place in listener.places if place not in addresses]:
            listener.leave(address)  # first: another one may be the same, or hold it
        kept, listener.places = listener.places, {}
        try:
            for address in addresses:
                if address in kept:
                    listener.places[address] = kept.pop(address)
                else:
                    self._listen_at(address, listener, acceptor)
        finally:
            listener.places.update(kept)
            self._forget(kind)
            self._add(listener)

    def _bind_back(self, kind: Kind, addresses: Sequence[str]) -> None:
        try:
            self._bind_anew(kind, addresses)
        except OSError as error:
            _log.warning("Warning: no longer listening: %s", error)

    def follow_tls(self) -> None:
        """Read certificate, key and settings again, if there is a TLS port.

        Raises BadValue, and changes nothing, if they are not valid.
        """
        for kind in self._kinds:
            kind.reload()

    # ------------------------------------------------------------------ what parts are told

    def configured(self, config: Config) -> None:
        for kind in self._kinds:
            kind.configured(config)

    def tick(self, now_ms: int) -> None:
        for kind in self._kinds:
            kind.tick(now_ms)
