"""Whether a server is a node of a cluster."""

from __future__ import annotations

from contextlib import suppress

from pyspark_penstock.connect.connection import Connection, pairs
from pyspark_penstock.errors import ServerError

ENABLED = b"cluster_enabled:1"


def is_node(connection: Connection) -> bool:
    """Whether the server is a node of a cluster. INFO says so; HELLO, where INFO is not allowed.

    A server that allows neither, such as a proxy, counts as none. Raises OSError.
    """
    with suppress(ServerError):
        return ENABLED in connection.call("INFO", "cluster")
    with suppress(ServerError):
        return bool(pairs(connection.call("HELLO")).get("mode") == b"cluster")
    return False
