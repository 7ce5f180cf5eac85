"""Where the server listens, and which backend serves those who connect there."""

from __future__ import annotations

import contextlib
import errno
import logging
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from server.config.parameters import BadValue, Config
from server.network.acceptor import Acceptor
from server.network.addresses import host_name
from server.network.backend import Backend, Door
from server.observe.part import Part
from server.process import build

if TYPE_CHECKING:  # who has no TLS port pays nothing for it
    from server.network.tls.acceptor import TlsAcceptor

KINDS = ("tcp", "unix", "tls")

NOT_FOR_US = (errno.EADDRINUSE, errno.EACCES)  # an address that is there, but cannot be had
EVERYWHERE = {"*": "0.0.0.0", "::*": "::"}  # noqa: S104  (where the configuration says so)

_log = logging.getLogger("penstock")


def backend() -> Backend:
    """The backend for this machine: epoll where the system has it, else asyncio."""
    if build.uses_epoll():
        from server.network.epoll.backend import EpollBackend  # noqa: PLC0415  (on Linux alone)

        return EpollBackend()
    from server.network.asyncio_backend import AsyncioBackend  # noqa: PLC0415  (one is enough)

    return AsyncioBackend()


class Listening:
    """Listens at all addresses of one kind, on *port* if it has one.

    *places* are the addresses, as the configuration writes them, each with its sockets.
    """

    def __init__(self, kind: str, port: int = 0) -> None:
        self.kind = kind
        self.port = port
        self.places: dict[str, list[Door]] = {}

    @property
    def text(self) -> str:
        """What INFO says of it."""
        binds = "".join(f",bind={address}" for address in self.places)
        return f"name={self.kind}{binds}" + (f",port={self.port}" if self.port else "")

    def leave(self, address: str) -> None:
        """Listen at *address* no more."""
        for door in self.places.pop(address):
            door.close()

    def close(self) -> None:
        for address in list(self.places):
            self.leave(address)


class Listeners(Part):
    """All of them, as the configuration wants them. *acceptor* gets the clients who come.

    *descriptions* are INFO's lines. A listener has the number that Redis gives its kind.
    """

    def __init__(self, config: Config, serving: Backend, acceptor: Acceptor) -> None:
        self._config = config
        self._backend = serving
        self._acceptor = acceptor
        self._tls: TlsAcceptor | None = None
        self._open: dict[str, Listening] = {}  # kind ->
        self.descriptions: dict[str, str] = {}

    @property
    def kinds(self) -> list[str]:
        """tcp, unix and tls, as the log has them."""
        return sorted(self._open, key=KINDS.index)

    def open(self) -> None:
        """Listen wherever the configuration says. Raises OSError when that cannot be had."""
        if self._config.port:
            self._add("tcp", self._at_start("tcp", self._config.port, self._acceptor))
        if self._config.unixsocket:
            self._add("unix", self._on_path(Path(self._config.unixsocket)))
        if self._config.tls_port:
            self._add("tls", self._at_start("tls", self._config.tls_port, self._tls_at_start()))
        if not self._open:
            raise OSError(
                "No address to listen on: see 'bind', 'port', 'tls-port' and 'unixsocket'"
            )

    def _at_start(self, kind: str, port: int, acceptor: Acceptor) -> Listening:
        try:
            return self._at_addresses(kind, port, acceptor)
        except OSError as error:
            raise OSError(
                f"{error}. Failed listening on port {port} ({kind}), aborting."
            ) from error

    def _add(self, kind: str, listener: Listening) -> None:
        if listener.places:
            self._open[kind] = listener
            self.descriptions[f"listener{KINDS.index(kind)}"] = listener.text

    def _remove(self, kind: str) -> None:
        listener = self._forget(kind)
        if listener is not None:
            listener.close()

    def _forget(self, kind: str) -> Listening | None:
        self.descriptions.pop(f"listener{KINDS.index(kind)}", None)
        return self._open.pop(kind, None)

    def close(self) -> None:
        """Listen no more."""
        for kind in self.kinds:
            self._remove(kind)
            if kind == "unix":
                Path(self._config.unixsocket).unlink(missing_ok=True)

    # ------------------------------------------------------------------ CONFIG SET

    def follow_port(self, parameter: str) -> None:
        """Listen at the port that *parameter* says by now; who is connected stays.

        Raises BadValue, and goes on as before, if that cannot be had.
        """
        kind = "tls" if parameter == "tls-port" else "tcp"
        port = self._config.tls_port if kind == "tls" else self._config.port
        if port == (self._open[kind].port if kind in self._open else 0):
            return
        if not port:
            self._remove(kind)
            return
        acceptor = self._tls_acceptor() if kind == "tls" else self._acceptor
        try:
            listener = self._at_addresses(kind, port, acceptor)
        except OSError as error:
            _log.warning("Warning: %s", error)
            raise BadValue("Unable to listen on this port. Check server logs.") from None
        self._remove(kind)
        self._add(kind, listener)

    def follow_bind(self) -> None:
        """Listen at the addresses that *bind* says by now; who is connected stays.

        Where the server goes on listening, nobody who waits to be let in is turned away. Raises
        BadValue, and goes on as before, if the addresses cannot be had.
        """
        before = {kind: list(self._open[kind].places) for kind in self._open}
        try:
            for kind in ("tcp", "tls"):
                self._bind_anew(kind, self._config.bind)
        except OSError as error:
            _log.warning("Warning: %s", error)
            for kind in ("tcp", "tls"):
                self._bind_back(kind, before.get(kind, []))
            raise BadValue("Failed to bind to specified addresses.") from None

    def _bind_anew(self, kind: str, addresses: Sequence[str]) -> None:
        """Listen at *addresses*, and nowhere else. Raises OSError amid that."""
        port = self._config.tls_port if kind == "tls" else self._config.port
        listener = self._open.get(kind) or Listening(kind, port)
        if not port or listener.port != port:  # its port is set, too: follow_port sees to all
            return
        acceptor = self._tls_acceptor() if kind == "tls" else self._acceptor
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
            self._add(kind, listener)

    def _bind_back(self, kind: str, addresses: Sequence[str]) -> None:
        try:
            self._bind_anew(kind, addresses)
        except OSError as error:
            _log.warning("Warning: no longer listening: %s", error)

    def follow_tls(self) -> None:
        """Read certificate, key and settings again, if there is a TLS port.

        Raises BadValue, and goes on as before, if they are not valid.
        """
        if self._config.tls_port:
            self._tls_acceptor()

    # ------------------------------------------------------------------ TLS

    def _tls_acceptor(self) -> TlsAcceptor:
        """What lets TLS clients in, with the settings of now. Raises BadValue."""
        from server.network.tls.acceptor import TlsAcceptor  # noqa: PLC0415  (who has none pays none)
        from server.network.tls.context import BadSettings  # noqa: PLC0415

        try:
            if self._tls is None:
                self._tls = TlsAcceptor(self._config, self._acceptor, self._backend.call_soon)
            else:
                self._tls.load(self._config)
        except BadSettings as error:
            _log.warning("%s", error)
            raise BadValue("Unable to update TLS configuration. Check server logs.") from None
        return self._tls

    def _tls_at_start(self) -> TlsAcceptor:
        try:
            return self._tls_acceptor()
        except BadValue:
            raise OSError("Failed to configure TLS. Check logs for more info.") from None

    def configured(self, config: Config) -> None:
        if self._tls is not None:
            self._tls.configured(config)

    def tick(self, now_ms: int) -> None:
        if self._tls is not None:
            self._tls.tick(now_ms)

    # ------------------------------------------------------------------ sockets

    def _at_addresses(self, kind: str, port: int, acceptor: Acceptor) -> Listening:
        """Listen on all addresses of *bind*. Raises OSError."""
        listener = Listening(kind, port)
        try:
            for address in self._config.bind:
                self._listen_at(address, listener, acceptor)
        except OSError:
            listener.close()
            raise
        return listener

    def _listen_at(self, address: str, listener: Listening, acceptor: Acceptor) -> None:
        """Listen on one address; with a dash before it, only if the machine has it."""
        host, port = address.removeprefix("-"), listener.port
        doors: list[Door] = []
        try:
            for sock in bound_sockets(host, port):
                door = self._backend.listen(sock, self._config.tcp_backlog, acceptor)
                doors.append(door)  # at once: a later one may fail
        except OSError as error:
            for door in doors:
                door.close()
            if address.startswith("-") and error.errno not in NOT_FOR_US:
                return
            step = "" if isinstance(error, socket.gaierror) else "bind: "
            raise OSError(
                f"Could not create server TCP listening socket {host}:{port}: {step}"
                f"{error.strerror or error}"
            ) from error
        listener.places.setdefault(address, []).extend(doors)

    def _on_path(self, path: Path) -> Listening:
        listener = Listening("unix")
        try:
            sock = _bound_to_path(path, self._config.unixsocketperm)
            door = self._backend.listen(sock, self._config.tcp_backlog, self._acceptor)
        except OSError as error:
            raise OSError(
                f"Failed opening Unix socket '{Path.cwd() / path}': bind: {error.strerror or error}"
            ) from error
        listener.places[str(path)] = [door]
        return listener


def _bound_to_path(path: Path, mode: int) -> socket.socket:
    """A socket bound to *path*, with *mode* unless that is 0. Raises OSError."""
    sock = socket.socket(socket.AF_UNIX)
    try:
        with contextlib.suppress(FileNotFoundError):
            if path.is_socket():
                path.unlink()  # left behind by a server that was killed
        sock.bind(str(path))
        if mode:
            path.chmod(mode)
    except OSError:
        sock.close()
        raise
    return sock


def bound_sockets(host: str, port: int) -> list[socket.socket]:
    """A socket for each address that *host* stands for. Raises OSError."""
    name = host_name(EVERYWHERE.get(host, host))
    found = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    return [_bound(family, address) for family, _, _, _, address in dict.fromkeys(found)]


def _bound(family: int, address: Any) -> socket.socket:
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:  # IPv4 has a socket of its own
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.bind(address)
    except OSError:
        sock.close()
        raise
    return sock
