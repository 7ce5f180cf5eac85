"""declare() makes a queue where there can be one, and leaves nothing behind where there cannot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

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


def test_what_is_refused_leaves_nothing(server: PenstockServer) -> None:
    """Regression: there was a stream, and a group without policies."""
    with server.client() as client:
        with pytest.raises(redis.ResponseError):
            queues.Queue(client, "mails", max_pending=-1).declare()
        assert client.keys() == []
        client.execute_command("ACL SETUSER", "mailer", "on", "nopass", "~*", "+@all", "-xcfgset")
        with (
            server.client(username="mailer", password="") as limited,
            pytest.raises(redis.exceptions.NoPermissionError),
        ):
            queues.Queue(limited, "mails").declare()
        client.execute_command("ACL DELUSER", "mailer")
        assert client.keys() == []


def test_what_is_refused_leaves_what_was_there(server: PenstockServer) -> None:
    with server.client() as client:
        client.xadd("mails", {"to": "ann"})
        with pytest.raises(redis.ResponseError):
            queues.Queue(client, "mails", max_pending=-1).declare()
        assert (client.xlen("mails"), client.xinfo_groups("mails")) == (1, [])
        client.delete("mails")
        client.xgroup_create("mails", "audit", mkstream=True)
        with pytest.raises(redis.ResponseError):
            queues.Queue(client, "mails", max_pending=-1).declare()
        assert [group["name"] for group in client.xinfo_groups("mails")] == [b"audit"]


@pytest.mark.asyncio
async def test_what_is_refused_by_asyncio_leaves_nothing(server: PenstockServer) -> None:
    async with server.async_client() as client:
        with pytest.raises(redis.ResponseError):
            await asyncio_queues.Queue(client, "mails", max_pending=-1).declare()
        assert await client.keys() == []


@pytest.mark.parametrize("backoff_ms", [[1.5], [-1], "10", [None]])
def test_a_back_off_is_whole_numbers(server: PenstockServer, backoff_ms: Any) -> None:
    with server.client() as client, pytest.raises(ValueError, match="backoff_ms"):
        queues.Queue(client, "mails", backoff_ms=backoff_ms)


def test_a_back_off_may_be_one_number(server: PenstockServer) -> None:
    with server.client(decode_responses=True) as client:
        queues.Queue(client, "mails", backoff_ms=1000).declare()
        policies = client.execute_command("XGROUP CFGGET", "mails", "workers")
    assert policies["backoff"] == "1000"


def test_names_may_be_octets(server: PenstockServer) -> None:
    with server.client() as client:
        queue = queues.Queue(client, b"\xff", group=b"\xfe", max_deliveries=1)
        queue.declare()
        queue.enqueue({"to": "ann"})

        def fail(job: queues.Job) -> None:
            worker.stop()
            raise RuntimeError

        worker = queues.Worker(queue, fail)
        worker.run()
        assert client.xlen(b"\xff:dead") == 1
        assert client.xinfo_consumers(b"\xff", b"\xfe") == []


def test_what_is_there_of_it_is_kept(server: PenstockServer) -> None:
    client = server.client(decode_responses=True)
    client.xadd("mails", {"to": "ann"})
    for most in (3, 4):
        queues.Queue(client, "mails", max_pending=most).declare()
        assert client.execute_command("XGROUP CFGGET", "mails", "workers")["maxpending"] == most
    assert client.xlen("mails") == 1
