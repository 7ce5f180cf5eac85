"""Dialing: from the addresses of a server to a connection that serves.

The first address is taken that accepts a connection, the login and a command; a server that is
loading its data, or a replica that has lost its primary, does not. Who writes, or has to see what
was just written, wants the primary: of several addresses replicas are passed by, unless nothing
else is there. A replica may take writes, and if it does not, its READONLY is for ``retry``.
"""

from __future__ import annotations

import socket
import ssl
from contextlib import suppress

from pyspark_penstock.connection import ANSWER_S, CONNECT_S, Address, Server, written
from pyspark_penstock.errors import ServerError
from pyspark_penstock.stream_info import pairs
from pyspark_penstock.wire import Wire, Word


def dial(server: Server, *, primary: bool = False) -> Wire:
    """A connection to *server*.

    Raises OSError where no address serves now, ServerError for a login or a database that is
    refused, OptionError.
    """
    if primary and len(server.addresses) > 1:
        with suppress(OSError):
            return first_that_serves(server, replicas=False)
    return first_that_serves(server, replicas=True)


def first_that_serves(server: Server, *, replicas: bool) -> Wire:
    """A connection to the first address that serves, be it a replica or not."""
    problems: dict[Address, OSError] = {}
    for address in server.addresses:
        try:
            return greeted(server, address, replicas)
        except OSError as problem:
            problems[address] = problem
    if len(problems) == 1:
        raise problems[server.addresses[0]]
    raise ConnectionError("; ".join(f"{written(at)}: {why}" for at, why in problems.items()))


def greeted(server: Server, address: Address, replicas: bool) -> Wire:
    """A connection to *address* that has said who it is and what it wants."""
    wire = Wire(connected(server, address), address)
    try:
        for words in introduction(server):
            introduce(wire, words)
        if not replicas and is_replica(wire):
            raise ConnectionError("READONLY it is a replica")
    except BaseException:
        wire.close()
        raise
    return wire


def connected(server: Server, address: Address) -> socket.socket:
    """A connected socket, encrypted if the server is. Raises OSError, ServerError, OptionError."""
    context = None if server.tls is None else server.tls.context()
    plain = socket.create_connection(address, CONNECT_S)
    try:
        plain.settimeout(ANSWER_S)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return plain if context is None else context.wrap_socket(plain, server_hostname=address[0])
    except ssl.SSLCertVerificationError as problem:
        plain.close()
        raise ServerError(f"the server at {written(address)} is a stranger: {problem}") from None
    except OSError:
        plain.close()
        raise


def introduction(server: Server) -> list[tuple[Word, ...]]:
    """The commands with which a connection begins.

    PING would do for the last but is refused where writes are, as when the disk is full; and a
    ``Wire`` needs ECHO.
    """
    login = server.login()
    words: list[tuple[Word, ...]] = []
    if login is not None:
        words.append(("AUTH", *login.words))
    if server.db:
        words.append(("SELECT", server.db))
    return [*words, ("ECHO", "")]


def introduce(wire: Wire, words: tuple[Word, ...]) -> None:
    """Say one of them. Raises ServerError with the address, OSError for what passes."""
    try:
        wire.call(*words)
    except ServerError as refused:
        of_login = words[0] == "AUTH" or str(refused).startswith("NOAUTH")
        what = "the login" if of_login else str(words[0])
        raise ServerError(
            f"the server at {written(wire.address)} refuses {what}: {refused}"
        ) from None


def is_replica(wire: Wire) -> bool:
    """Whether the server says so; one that does not tell is none."""
    try:
        return bool(pairs(wire.call("HELLO")).get("role") == b"replica")
    except ServerError:
        return False
