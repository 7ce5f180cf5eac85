"""Redis Cluster is not supported: its nodes are refused before anything is read or written.

A node knows only the keys of its own slots. A glob would find only the streams on that node, and
for a stream on another node it answers MOVED.
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
    """Whether the server is a node of a cluster. INFO says so; HELLO, where INFO is not allowed.

    A server that allows neither, such as a proxy, counts as none. Raises OSError.
    """
    with suppress(ServerError):
        return ENABLED in connection.call("INFO", "cluster")
    with suppress(ServerError):
        return bool(pairs(connection.call("HELLO")).get("mode") == b"cluster")
    return False


def check_sink(server: Server) -> None:
    """Raises ServerError if *server* is a node of a cluster, when the driver can reach it.

    If it cannot, the tasks find out: each of them checks when it connects.
    """
    try:
        connection = dial(server)
    except (OSError, PenstockError):
        return
    with connection, suppress(OSError):
        refuse_node(connection)
