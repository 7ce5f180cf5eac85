"""Dialing: from the addresses of a server to a connection that can be used.

The first address is taken that accepts the connection and the login, and is ready. A server that
is loading its data is not ready, nor is a replica that has lost its primary and refuses reads.

A replica may lag, or be empty. So writers, and readers of what was just written (markers, pending
entries, groups), use the primary only, and wait while it is away. A replica that accepts writes
is as good as a primary.

Where there are Sentinels, each of them is asked in turn where the server is, and who is found must
have the role that they say: a Sentinel may be late.
"""

from __future__ import annotations

import random
from contextlib import suppress
from enum import Enum

from pyspark_penstock.connect.address import PRIMARY, REPLICA, Address, Server, written
from pyspark_penstock.connect.connection import Connection, Word, pairs
from pyspark_penstock.connect.sentinel import located
from pyspark_penstock.connect.sockets import connected
from pyspark_penstock.errors import ServerError


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
    wants_copy = server.read_from == REPLICA and preference is not Preference.PRIMARY
    if server.sentinels:
        return known_to_sentinels(server, wants_copy=wants_copy)
    if preference is Preference.PRIMARY or server.read_from == PRIMARY:
        return first_that_serves(server, for_writes=True)
    if wants_copy:
        with suppress(OSError):
            return first_in_role(server, list(server.addresses), REPLICA)
    elif preference is Preference.PRIMARY_PREFERRED and len(server.addresses) > 1:
        with suppress(OSError):
            return first_that_serves(server, for_writes=True)
    return first_that_serves(server, for_writes=False)


def known_to_sentinels(server: Server, *, wants_copy: bool) -> Connection:
    """A connection to the primary, or to a replica if possible, as the Sentinels know them.

    Raises OSError with what each Sentinel's answer led to.
    """
    problems: list[str] = []
    unknown = 0
    for sentinel in server.sentinels:
        try:
            found = located(server, sentinel, with_replicas=wants_copy)
            if found is None:
                unknown += 1
                problems.append(f"{written(sentinel)} does not know {server.master_name!r}")
                continue
            with suppress(OSError):
                replicas = random.sample(found.replicas, len(found.replicas))
                return first_in_role(server, replicas, REPLICA)
            return first_in_role(server, [found.primary], PRIMARY)
        except OSError as problem:
            problems.append(f"Sentinel {written(sentinel)}: {problem}")
    if unknown == len(server.sentinels):
        raise ServerError("; ".join(problems))
    raise ConnectionError("; ".join(problems))


def first_in_role(server: Server, addresses: list[Address], role: str) -> Connection:
    """A connection to the first address where a primary, or a replica, serves. Raises OSError."""
    problem = ConnectionError(f"there is no {role}")
    for address in addresses:
        try:
            connection = greeted(server, address, for_writes=False)
        except OSError as away:
            problem = ConnectionError(f"{written(address)}: {away}")
            continue
        if role_of(connection) == role:
            return connection
        connection.close()
        problem = ConnectionError(f"{written(address)} is no {role}")
    raise problem


def role_of(connection: Connection) -> str:
    """Whether the server is a primary or a replica; a node of a cluster is neither.

    A server that does not support HELLO counts as a primary. Raises OSError.
    """
    try:
        hello = pairs(connection.call("HELLO"))
    except ServerError:
        return PRIMARY
    if hello.get("mode") == b"cluster":
        return ""
    return REPLICA if hello.get("role") == b"replica" else PRIMARY


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


def greeted(server: Server, address: Address, for_writes: bool) -> Connection:
    """A connection to *address*, logged in, to a server that is ready.

    With *for_writes* it is no replica, unless of a cluster. Raises OSError,
    ServerError.
    """
    connection = Connection(connected(server, address), address)
    try:
        for words in introduction(server):
            introduce(connection, words)
        check_ready(connection)
        if for_writes and refuses_writes(connection):
            raise ConnectionError("it is a replica, which takes no writes")
    except BaseException:
        connection.close()
        raise
    return connection


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
    """Whether the server is a read-only replica."""
    if role_of(connection) != REPLICA:
        return False
    try:
        return b"slave_read_only:0" not in connection.call("INFO", "replication")
    except ServerError:
        return True
