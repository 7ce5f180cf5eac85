"""Dialing: from the addresses of a server to a connection that can be used.

The first address is taken that accepts the connection and the login, and is ready. A server that
is loading its data is not ready, nor is a replica that has lost its primary and refuses reads.

A replica may lag, or be empty. So writers, and readers of what was just written (markers, pending
entries, groups), use the primary only, and wait while it is away. A replica that accepts writes
is as good as a primary.
"""

from __future__ import annotations

import socket
import ssl
from contextlib import suppress
from enum import Enum

from pyspark_penstock.connect.address import ANSWER_S, CONNECT_S, Address, Server, written
from pyspark_penstock.connect.connection import Connection, Word, pairs
from pyspark_penstock.errors import ServerError

HUNG_UP = (ssl.SSLEOFError, ssl.SSLZeroReturnError)


class Preference(Enum):
    """Which of a server's addresses to use."""

    ANY = "the first that serves"
    PRIMARY_PREFERRED = "the first that takes writes; if there is none, the first that serves"
    PRIMARY = "the first that takes writes"


def dial(server: Server, preference: Preference = Preference.ANY) -> Connection:
    """A connection to *server*.

    Raises OSError if no address can be used now, ServerError if the login or the database is
    refused, OptionError for TLS files and passwords that do not exist.
    """
    if preference is Preference.PRIMARY:
        return first_that_serves(server, for_writes=True)
    if preference is Preference.PRIMARY_PREFERRED and len(server.addresses) > 1:
        with suppress(OSError):
            return first_that_serves(server, for_writes=True)
    return first_that_serves(server, for_writes=False)


def first_that_serves(server: Server, *, for_writes: bool) -> Connection:
    """A connection to the first address that can be used. Raises OSError with the error of each."""
    problems: dict[Address, OSError] = {}
    for address in server.addresses:
        try:
            return greeted(server, address, for_writes)
        except OSError as problem:
            problems[address] = problem
    if len(problems) == 1:
        raise problems[server.addresses[0]]
    raise ConnectionError("; ".join(f"{written(at)}: {why}" for at, why in problems.items()))


def greeted(
    server: Server, address: Address, for_writes: bool, *, asking: bool = False
) -> Connection:
    """A connection to *address*, logged in, to a server that is ready.

    With *for_writes* it is no replica, unless it is one of a cluster's. Raises OSError,
    ServerError.
    """
    connection = Connection(connected(server, address), address)
    try:
        for words in introduction(server):
            introduce(connection, words)
        check_ready(connection)
        if for_writes and refuses_writes(connection):
            raise ConnectionError("it is a replica, which takes no writes")
        connection.asking = asking
    except BaseException:
        connection.close()
        raise
    return connection


def connected(server: Server, address: Address) -> socket.socket:
    """A connected socket, with TLS if the server has it.

    Raises OSError, ServerError, OptionError.
    """
    context = None if server.tls is None else server.tls.context()
    plain = socket.create_connection(address, CONNECT_S)
    try:
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if context is not None:  # within CONNECT_S: a server without TLS would wait for more bytes
            plain = context.wrap_socket(plain, server_hostname=address[0])
    except ssl.SSLCertVerificationError as problem:
        plain.close()
        raise ServerError(f"the server at {written(address)} is a stranger: {problem}") from None
    except ssl.SSLError as problem:
        plain.close()
        if isinstance(problem, HUNG_UP):
            raise
        raise ServerError(f"no TLS with the server at {written(address)}: {problem}") from None
    except OSError:
        plain.close()
        raise
    plain.settimeout(ANSWER_S)
    return plain


def introduction(server: Server) -> list[tuple[Word, ...]]:
    """The first commands of a connection. ``Connection`` uses ECHO later, so it is tried here."""
    login = server.login()
    words: list[tuple[Word, ...]] = []
    if login is not None:
        words.append(("AUTH", *login.words))
    if server.db:
        words.append(("SELECT", server.db))
    return [*words, ("ECHO", "")]


def introduce(connection: Connection, words: tuple[Word, ...]) -> None:
    """Send one of them. Raises ServerError with the address if it is refused, OSError."""
    try:
        connection.call(*words)
    except ServerError as refused:
        of_login = words[0] == "AUTH" or str(refused).startswith("NOAUTH")
        what = "the login" if of_login else str(words[0])
        raise ServerError(
            f"the server at {written(connection.address)} refuses {what}: {refused}"
        ) from None


def check_ready(connection: Connection) -> None:
    """Raises OSError if the server would refuse reads: LOADING, MASTERDOWN, BUSY.

    Such a server still answers ECHO and HELLO, but not PING. Other errors of PING are ignored: it
    also fails when the disk is full, and reads work then.
    """
    with suppress(ServerError):
        connection.call("PING")


def refuses_writes(connection: Connection) -> bool:
    """Whether the server is a read-only replica. One that does not support HELLO is not, nor is
    a node of a cluster, which knows who has the slots.
    """
    try:
        hello = pairs(connection.call("HELLO"))
        if hello.get("role") != b"replica" or hello.get("mode") == b"cluster":
            return False
    except ServerError:
        return False
    try:
        return b"slave_read_only:0" not in connection.call("INFO", "replication")
    except ServerError:
        return True
