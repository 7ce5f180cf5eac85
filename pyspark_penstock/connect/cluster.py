"""Redis Cluster, which is not supported yet: refused by name, before anything is read or written.

A node knows its own keys only. Of the streams that a glob means it would show a part, as if that
were all; for a stream of another node it answers with that node's address.
"""

from __future__ import annotations

from contextlib import suppress

from pyspark_penstock.connect.address import Server, written
from pyspark_penstock.connect.connection import Connection, pairs
from pyspark_penstock.connect.dial import dial
from pyspark_penstock.errors import PenstockError, ServerError

ENABLED = b"cluster_enabled:1"


def refuse_node(connection: Connection) -> None:
    """Raises ServerError if the server is a node of a cluster, OSError if it does not answer."""
    if is_node(connection):
        raise ServerError(
            f"Redis Cluster is not supported yet: the server {written(connection.address)} has "
            "cluster_enabled:1"
        )


def is_node(connection: Connection) -> bool:
    """Whether the server is a node of a cluster, by INFO, or by HELLO where that is refused.

    One that tells by neither (a proxy) is taken for none. Raises OSError.
    """
    with suppress(ServerError):
        return ENABLED in connection.call("INFO", "cluster")
    with suppress(ServerError):
        return bool(pairs(connection.call("HELLO")).get("mode") == b"cluster")
    return False


def check_sink(server: Server) -> None:
    """Raises ServerError if *server* is a node of a cluster, as far as the driver can see.

    It need not get at the server. Tasks do, and look for themselves.
    """
    try:
        connection = dial(server)
    except (OSError, PenstockError):
        return
    with connection, suppress(OSError):
        refuse_node(connection)
