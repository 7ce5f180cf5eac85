#!/opt/penstock/bin/python -I
"""Whether the container's server answers: exit status 0 if so, else 1 and a line that says why.

The words that the server was started with say where it listens: at a Unix socket, a port, or a port
with TLS. Whatever it replies is a sign of life, also that a password is missing, or that a script
runs. Only while it loads its data it is not healthy yet: nobody is served.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.launch import enter_application

if TYPE_CHECKING:
    from server.config.parameters import Config

TIMEOUT_S = 2.0
PING = b"*1\r\n$4\r\nPING\r\n"
LOADING = b"-LOADING"
LOOPBACK = {"*": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::*": "::1", "::": "::1"}  # noqa: S104

PROCESSES = Path("/proc")
# A server's words: [..., "penstock/launch.py", "redis-server", ...] or [..., "bin/penstock", ...]
PROGRAMS = {"launch.py": "redis-server", "penstock": "serve"}

Connect = Callable[[], socket.socket]


def main() -> str | None:
    """None if the server is healthy, else what is wrong with it."""
    options = find_server()
    if options is None:
        return "no server runs"
    enter_application()
    from server.config.command_line import BadOptions, read_command_line  # noqa: PLC0415

    try:
        config = read_command_line(options, read_input=lambda: "")
    except BadOptions as error:
        return f"its configuration cannot be read any more: {error}"
    return ask(ways_to(config))


def find_server() -> list[str] | None:
    """The options of the server.

    It is the first process, unless another one starts it and waits for it, as with ``--init``.
    """
    for process in sorted(PROCESSES.glob("[0-9]*"), key=lambda path: int(path.name)):
        with suppress(OSError):  # it has ended
            words = (process / "cmdline").read_bytes().decode("utf-8", "surrogateescape")
            options = server_options(words.split("\0")[:-1])
            if options is not None:
                return options
    return None


def server_options(words: list[str]) -> list[str] | None:
    """The options of the server that was started with *words*; None if that is not a server."""
    for n, (program, verb) in enumerate(pairwise(words)):
        if PROGRAMS.get(Path(program).name) == verb:
            return words[n + 2 :]
    return None


def ask(ways: Iterator[Connect]) -> str | None:
    """None if there is a sign of life at the first of *ways* that leads to a server."""
    trouble = "the server listens nowhere"
    for connect in ways:
        try:
            with connect() as sock:
                sock.sendall(PING)
                return what_is_wrong(sock.recv(512))
        except TimeoutError:
            return "it does not answer"
        except OSError as error:
            if "ALERT" in (getattr(error, "reason", None) or ""):
                return None  # TLS: it lives, and wants another certificate
            trouble = str(error)
    return trouble


def what_is_wrong(reply: bytes) -> str | None:
    if reply.startswith(LOADING):
        return "it loads its data"
    return None if reply else "it closes connections"


# ---------------------------------------------------------------------- where it listens


def ways_to(config: Config) -> Iterator[Connect]:
    """The ways to a server with *config*, the cheapest first.

    Its relative paths hold here too: both processes begin in the container's working folder.
    """
    if config.unixsocket:
        yield partial(by_path, str(Path(config.dir, config.unixsocket)))
    for bound in config.bind:
        name = bound.removeprefix("-")
        host = LOOPBACK.get(name, name)
        if config.port:
            yield partial(by_port, host, config.port)
        if config.tls_port:
            yield partial(by_tls, host, config)


def by_path(path: str) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.settimeout(TIMEOUT_S)
    try:
        sock.connect(path)
    except OSError:
        sock.close()
        raise
    return sock


def by_port(host: str, port: int) -> socket.socket:
    return socket.create_connection((host, port), TIMEOUT_S)


def by_tls(host: str, config: Config) -> socket.socket:
    """Show the server its own certificate, in case that it wants to see one; believe its own.

    If it does not take that, it says so by an alert, which ``ask`` takes for a sign of life.
    """
    import ssl  # noqa: PLC0415  (costs more than all the rest)

    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with suppress(OSError):
        certificate, key = config.tls_cert_file, config.tls_key_file
        context.load_cert_chain(certificate, key, lambda: config.tls_key_file_pass)
    return context.wrap_socket(by_port(host, config.tls_port))


if __name__ == "__main__":
    sys.exit(main())
