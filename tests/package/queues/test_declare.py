"""declare() makes a queue where there can be one, and leaves nothing behind where there cannot."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import redis
import redis.asyncio

from penstock import queues
from penstock.queues import asyncio as asyncio_queues
from penstock.testing import PenstockServer
from tests.package.top.conftest import oracles, redis_port

__all__ = ["oracles", "redis_port"]


@pytest.fixture
def real(redis_port: int) -> Iterator[redis.Redis]:
    """A client of an empty Redis 7.0."""
    with redis.Redis(port=redis_port) as client:
        yield client


def test_a_redis_is_left_as_it_was(real: redis.Redis) -> None:
    """Regression: it had a stream and a group afterwards."""
    with pytest.raises(redis.ResponseError, match="nknown subcommand"):
        queues.Queue(real, "mails").declare()
    assert real.keys() == []


@pytest.mark.asyncio
async def test_a_redis_is_left_as_it_was_by_asyncio(real: redis.Redis, redis_port: int) -> None:
    async with redis.asyncio.Redis(port=redis_port) as client:
        with pytest.raises(redis.ResponseError, match="nknown subcommand"):
            await asyncio_queues.Queue(client, "mails").declare()
    assert real.keys() == []


def test_what_is_there_of_it_is_kept(server: PenstockServer) -> None:
    client = server.client(decode_responses=True)
    client.xadd("mails", {"to": "ann"})
    for most in (3, 4):
        queues.Queue(client, "mails", max_pending=most).declare()
        assert client.execute_command("XGROUP CFGGET", "mails", "workers")["maxpending"] == most
    assert client.xlen("mails") == 1
