"""redis-py's asyncio client works with the server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from redis.asyncio import ConnectionPool, Redis
from redis.exceptions import ResponseError, WatchError

pytestmark = pytest.mark.asyncio


@pytest_asyncio.fixture
async def client(port: int, protocol: int) -> AsyncIterator[Redis]:
    async with Redis(port=port, protocol=protocol) as connected:
        yield connected


async def until_blocked(watcher: Redis, count: int) -> None:
    """Return when *count* clients are blocked."""
    while (await watcher.info("clients"))["blocked_clients"] != count:
        await asyncio.sleep(0.001)


async def test_values_are_read_back(client: Redis) -> None:
    assert await client.set("k", b"\x00\xff", ex=100)
    assert await client.get("k") == b"\x00\xff"
    assert 0 < await client.ttl("k") <= 100
    assert await client.incr("n") == 1
    assert await client.rpush("l", "a", "b") == 2
    assert await client.lpop("l", 5) == [b"a", b"b"]
    assert await client.delete("k", "n", "l") == 2


async def test_decoded_text(port: int, protocol: int) -> None:
    async with Redis(port=port, protocol=protocol, decode_responses=True) as text:
        await text.set("k", "näher")
        assert await text.get("k") == "näher"


async def test_pipeline_and_transaction(client: Redis) -> None:
    async with client.pipeline(transaction=False) as pipe:
        for number in range(1000):
            pipe.rpush("l", number)
        assert await pipe.execute() == list(range(1, 1001))
    async with client.pipeline(transaction=True) as pipe:
        replies = await pipe.set("k", 1).incr("k").get("k").execute()
        assert replies == [True, 2, b"2"]


async def test_watch_makes_a_transaction_fail(client: Redis) -> None:
    async with client.pipeline() as pipe:
        await pipe.watch("k")
        await client.set("k", 1)
        pipe.multi()
        pipe.set("k", 2)
        with pytest.raises(WatchError):
            await pipe.execute()
    assert await client.get("k") == b"1"


async def test_each_blocked_task_is_served_once(port: int, protocol: int) -> None:
    pool = ConnectionPool(port=port, protocol=protocol)
    async with Redis(connection_pool=pool) as client:
        waiting = [asyncio.create_task(client.blpop("l", timeout=10)) for _ in range(50)]
        await until_blocked(client, 50)
        await client.rpush("l", *range(50))
        got = await asyncio.gather(*waiting)
        assert sorted(int(value) for _, value in got) == list(range(50))
        await until_blocked(client, 0)
    await pool.disconnect()


async def test_a_cancelled_blocking_pop_loses_no_element(client: Redis) -> None:
    waiting = asyncio.create_task(client.blpop("l", timeout=0))
    await until_blocked(client, 1)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await until_blocked(client, 0)
    await client.rpush("l", "kept")
    assert await client.lrange("l", 0, -1) == [b"kept"]


async def test_consumers_of_a_group_share_a_stream(client: Redis) -> None:
    await client.xgroup_create("s", "g", mkstream=True)
    consumers = [asyncio.create_task(_consume(client, f"c{number}")) for number in range(3)]
    await until_blocked(client, 3)
    ids = [await client.xadd("s", {"n": number}) for number in range(60)]
    ids += [await client.xadd("s", {"stop": 1}) for _ in consumers]
    got = await asyncio.gather(*consumers)
    assert sorted(entry for entries in got for entry in entries) == sorted(ids)
    assert (await client.xpending("s", "g"))["pending"] == 0
    groups = await client.xinfo_groups("s")
    assert (groups[0]["entries-read"], groups[0]["lag"]) == (63, 0)


async def _consume(client: Redis, name: str) -> list[bytes]:
    """Read and acknowledge one entry at a time, until one has the field stop."""
    seen: list[bytes] = []
    while True:
        got = await client.xreadgroup("g", name, {"s": ">"}, count=1, block=5000)
        (entries,) = got.values() if isinstance(got, dict) else [entries for _, entries in got]
        ((entry, fields),) = entries[0] if isinstance(got, dict) else entries
        await client.xack("s", "g", entry)
        seen.append(entry)
        if b"stop" in fields:
            return seen


async def test_scan_iter_finds_every_key(client: Redis) -> None:
    await client.mset({f"k{number}": 1 for number in range(300)})
    found = {key async for key in client.scan_iter(match="k*", count=10)}
    assert len(found) == 300


async def test_errors_are_exceptions(client: Redis) -> None:
    await client.set("k", "v")
    with pytest.raises(ResponseError, match="WRONGTYPE"):
        await client.xadd("k", {"f": "v"})
    with pytest.raises(ResponseError, match="NOGROUP"):
        await client.xreadgroup("g", "c", {"missing": ">"})


async def test_many_connections_at_once(port: int, protocol: int) -> None:
    clients = [Redis(port=port, protocol=protocol) for _ in range(100)]
    assert all(await asyncio.gather(*(client.ping() for client in clients)))
    await asyncio.gather(*(client.incr("n") for client in clients))
    assert await clients[0].get("n") == b"100"
    await asyncio.gather(*(client.aclose() for client in clients))
