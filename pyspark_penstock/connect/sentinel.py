"""Sentinel: where a server and its replicas are, as one Sentinel says.

A Sentinel is given the server's login, and TLS is the server's. One that has no password is asked
without.
"""

from __future__ import annotations

from contextlib import closing
from typing import Any, NamedTuple

from pyspark_penstock.connect.address import CONNECT_S, Address, Server, written
from pyspark_penstock.connect.connection import Connection, pairs
from pyspark_penstock.connect.slots import place
from pyspark_penstock.connect.sockets import connected
from pyspark_penstock.errors import ServerError

AWAY = ("s_down", "o_down", "disconnected")  # flags of a replica that cannot be used
HAS_NONE = "without any password"
MOST_REPLICAS = 1_000  # that are looked at: a Sentinel may remember all that ever were


class Located(NamedTuple):
    """Where the machines of a server are."""

    primary: Address
    replicas: list[Address]


def located(server: Server, sentinel: Address, *, with_replicas: bool) -> Located | None:
    """What one Sentinel says; None if it does not know the name. Raises OSError, ServerError."""
    plain = connected(server, sentinel)
    plain.settimeout(CONNECT_S)
    with closing(Connection(plain, sentinel)) as connection:
        log_in(connection, server)
        found = asked(connection, "GET-MASTER-ADDR-BY-NAME", server.master_name)
        if found is None:
            return None
        primary = place(found[0], int(found[1]), sentinel)
        if primary is None:
            raise ConnectionError(f"it gives {found!r} for an address"[:200])
        replicas = asked(connection, "REPLICAS", server.master_name) if with_replicas else []
    places = (replica_place(pairs(each), sentinel) for each in replicas[:MOST_REPLICAS])
    return Located(primary, [at for at in places if at])


def log_in(connection: Connection, server: Server) -> None:
    """Log in as at the server. Raises ServerError if that is refused, OSError."""
    login = server.login()
    if login is None:
        return
    try:
        connection.call("AUTH", *login.words)
    except ServerError as refused:
        if HAS_NONE not in str(refused):
            raise ServerError(
                f"the Sentinel at {written(connection.address)} refuses the login: {refused}"
            ) from None


def asked(connection: Connection, *words: str) -> Any:
    """The reply to SENTINEL. Raises OSError, ServerError."""
    try:
        return connection.call("SENTINEL", *words)
    except ServerError as refused:
        raise ServerError(
            f"the Sentinel at {written(connection.address)} refuses SENTINEL: {refused}"
        ) from None


def replica_place(replica: dict[str, Any], sentinel: Address) -> Address | None:
    """The address of a replica; None if it cannot be used."""
    flags = replica.get("flags", b"").decode().split(",")
    if any(flag in AWAY for flag in flags) or replica.get("master-link-status") == b"err":
        return None
    return place(replica["ip"], int(replica["port"]), sentinel)
