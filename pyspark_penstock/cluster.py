"""Redis Cluster, which is not supported yet: refused by name, before anything is read or written.

A node knows its own keys only. Of the streams that a glob means it would show a part, as if that
were all; for a stream of another node it answers with that node's address.
"""

from __future__ import annotations

from contextlib import suppress

import redis

from pyspark_penstock.connection import Server
from pyspark_penstock.errors import PenstockError, ServerError
from pyspark_penstock.stream_info import answering, ask, pairs, text


def standalone(client: redis.Redis) -> redis.Redis:
    """The client, if its server is no node of a cluster. Raises ServerError, and closes it."""
    try:
        if is_node(client):
            at = client.connection_pool.connection_kwargs
            raise ServerError(
                f"Redis Cluster is not supported yet: the server {at['host']}:{at['port']} has "
                "cluster_enabled:1"
            )
    except BaseException:
        client.close()
        raise
    return client


def is_node(client: redis.Redis) -> bool:
    """Whether the server is a node of a cluster, by INFO, or by HELLO where that is refused.

    One that tells by neither (a proxy) is taken for none. Raises ServerError if none answers.
    """
    with suppress(redis.ResponseError), answering():
        enabled = client.info("cluster").get("cluster_enabled")
        if enabled is not None:
            return bool(enabled)
    with suppress(redis.ResponseError):
        return text(pairs(ask(client, "HELLO")).get("mode", "")) == "cluster"
    return False


def check_sink(server: Server) -> None:
    """Raises ServerError if *server* is a node of a cluster, as far as the driver can see.

    It need not get at the server: where tasks do, they write.
    """
    try:
        client = server.client(retries=0)
    except PenstockError:
        return
    standalone(client).close()
