"""The kinds of listeners: where each listens, by which parameters, and its acceptor.

    tcp     port         bind           clients in plain text
    unix    -            unixsocket     clients of this machine
    tls     tls-port     bind           clients that speak TLS
    http    metrics-port metrics-bind   browsers and Prometheus: server/http/listener.py

A further kind is one more class like these, and app.py adds it, as it adds http.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from server.config.parameters import BadValue, Config
from server.network.acceptor import Acceptor
from server.network.backend import Backend
from server.observe.part import Part

if TYPE_CHECKING:  # imported when there is a TLS port
    from server.network.tls.acceptor import TlsAcceptor

NOT_FOR_US = (errno.EADDRINUSE, errno.EACCES)  # an address that is there, but cannot be obtained

_log = logging.getLogger("penstock")


class Kind(Part):
    """A kind of listener. *acceptor* gets its clients.

    *name* stands in INFO and in the server log; *port_parameter* says on which port it listens, if
    it has one, and *address_parameter* at which addresses.
    """

    name = ""
    port_parameter = ""
    address_parameter = ""

    def __init__(self, config: Config, acceptor: Acceptor) -> None:
        self._config = config
        self._acceptor = acceptor

    @property
    def is_wanted(self) -> bool:
        """Whether the configuration wants to listen so."""
        return self.port != 0

    @property
    def port(self) -> int:
        """The port that is wanted now; 0: none."""
        return 0

    def addresses(self) -> Sequence[str]:
        """The addresses that are wanted now, as the configuration writes them."""
        raise NotImplementedError

    def acceptor(self) -> Acceptor:
        """The acceptor, with the present settings. Raises BadValue."""
        return self._acceptor

    def bound(self, address: str, port: int) -> list[socket.socket]:
        """Sockets bound to *address*; none, if it may be missing and is. Raises OSError."""
        raise NotImplementedError

    def failure(self, error: Exception, port: int) -> OSError:
        """What the server log says when it cannot be obtained at the start."""
        return OSError(f"{error}. Failed listening on port {port} ({self.name}), aborting.")

    def left(self, address: str) -> None:
        """*address* is listened at no more."""

    def reload(self) -> None:
        """Read its settings again. Raises BadValue, and changes nothing, if they are bad."""


class Tcp(Kind):
    """Clients at a port, on all addresses of *bind*."""

    name = "tcp"
    port_parameter = "port"
    address_parameter = "bind"

    def __init__(self, config: Config, acceptor: Acceptor, serving: Backend) -> None:
        super().__init__(config, acceptor)
        self._backend = serving

    @property
    def port(self) -> int:
        return self._config.port

    def addresses(self) -> Sequence[str]:
        return self._config.bind

    def bound(self, address: str, port: int) -> list[socket.socket]:
        """Bind to *address*; with a dash before it, only if the machine has it."""
        host = address.removeprefix("-")
        try:
            return self._backend.bound(host, port)
        except OSError as error:
            if address.startswith("-") and error.errno not in NOT_FOR_US:
                return []
            step = "" if isinstance(error, socket.gaierror) else "bind: "
            raise OSError(
                f"Could not create server TCP listening socket {host}:{port}: {step}"
                f"{error.strerror or error}"
            ) from error


class Unix(Kind):
    """Clients of this machine, on the path *unixsocket*. It is not moved while the server runs."""

    name = "unix"
    address_parameter = "unixsocket"

    @property
    def is_wanted(self) -> bool:
        return bool(self._config.unixsocket)

    def addresses(self) -> Sequence[str]:
        return [self._config.unixsocket] if self._config.unixsocket else []

    def bound(self, address: str, port: int) -> list[socket.socket]:
        path = Path(address)
        try:
            return [_bound_to_path(path, self._config.unixsocketperm)]
        except OSError as error:
            raise OSError(
                f"Failed opening Unix socket '{Path.cwd() / path}': bind: {error.strerror or error}"
            ) from error

    def failure(self, error: Exception, _port: int) -> OSError:
        return OSError(str(error))

    def left(self, address: str) -> None:
        Path(address).unlink(missing_ok=True)


class Tls(Tcp):
    """Clients that speak TLS, on all addresses of *bind*."""

    name = "tls"
    port_parameter = "tls-port"

    def __init__(self, config: Config, acceptor: Acceptor, serving: Backend) -> None:
        super().__init__(config, acceptor, serving)
        self._tls: TlsAcceptor | None = None

    @property
    def port(self) -> int:
        return self._config.tls_port

    def acceptor(self) -> Acceptor:
        """The certificate, the key and the settings are read again."""
        from server.network.tls.acceptor import TlsAcceptor  # noqa: PLC0415  (with a TLS port)
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

    def failure(self, error: Exception, port: int) -> OSError:
        if isinstance(error, BadValue):
            return OSError("Failed to configure TLS. Check logs for more info.")
        return super().failure(error, port)

    def reload(self) -> None:
        if self.is_wanted:
            self.acceptor()

    def configured(self, config: Config) -> None:
        if self._tls is not None:
            self._tls.configured(config)

    def tick(self, now_ms: int) -> None:
        if self._tls is not None:
            self._tls.tick(now_ms)


def kinds_of(config: Config, acceptor: Acceptor, serving: Backend) -> list[Kind]:
    """The kinds of clients, in the order of the numbers that Redis gives them in INFO."""
    return [Tcp(config, acceptor, serving), Unix(config, acceptor), Tls(config, acceptor, serving)]


# ---------------------------------------------------------------------- sockets


def _bound_to_path(path: Path, mode: int) -> socket.socket:
    """A socket bound to *path*, with *mode* unless that is 0. Raises OSError."""
    sock = socket.socket(socket.AF_UNIX)
    try:
        with contextlib.suppress(FileNotFoundError):
            if path.is_socket():
                path.unlink()  # a server that was killed has left it
        sock.bind(str(path))
        if mode:
            path.chmod(mode)
    except OSError:
        sock.close()
        raise
    return sock
