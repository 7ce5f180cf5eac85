"""CLIENT ACKS, CLIENT OFFSET and WAITOFFSET with real replicas, by penstock.confirmed."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import redis
import redis.asyncio
from redis.exceptions import ResponseError

import penstock.confirmed.asyncio as in_asyncio
from penstock.confirmed import Behind, Offset, await_offset, is_unconfirmed, offset_of, with_acks
from tests.compat.oracles import REDIS_8
from tests.polling import WITHIN_S, until
from tests.replication.kinds import OURS, await_link, node_of, started

LONG_MS = int(WITHIN_S * 1000)


@pytest.mark.parametrize("kind", [OURS, REDIS_8])
def test_a_replica_confirms_writes_and_what_its_disk_has(tmp_path: Path, kind: str) -> None:
    primary = node_of(OURS, tmp_path / "primary")
    replica = node_of(kind, tmp_path / "replica", "--appendonly", "yes")
    with started(primary, replica):
        await_link(replica)
        for words in (
            with_acks(1, timeout_ms=LONG_MS),
            with_acks(1, fsync=True, timeout_ms=LONG_MS),
        ):
            with redis.Redis(port=primary.port, redis_connect_func=words) as client:
                for n in range(20):
                    client.xadd("s", {"n": n})
                    assert replica.client.xrevrange("s", count=1)[0][1] == {b"n": b"%d" % n}
        replica.kill()
        with redis.Redis(
            port=primary.port, redis_connect_func=with_acks(1, timeout_ms=50)
        ) as client:
            with pytest.raises(ResponseError) as raised:
                client.set("k", "v")
            assert is_unconfirmed(raised.value)
        assert primary.client.get("k") == b"v"


def test_what_was_written_is_read_on_the_replica_with_a_token(tmp_path: Path) -> None:
    primary, replica = (node_of(OURS, tmp_path / name) for name in ("primary", "replica"))
    with started(primary, replica):
        await_link(replica)
        for n in range(100):
            primary.client.set("k", n)
            await_offset(replica.client, offset_of(primary.client), LONG_MS)
            assert replica.client.get("k") == b"%d" % n

        async def in_a_loop() -> None:
            one, other = (redis.asyncio.Redis(port=node.port) for node in (primary, replica))
            async with one, other:
                await one.set("k", "loop")
                await in_asyncio.await_offset(other, await in_asyncio.offset_of(one), LONG_MS)
                assert await other.get("k") == b"loop"

        asyncio.run(in_a_loop())
        name, offset = offset_of(primary.client)
        with pytest.raises(Behind):
            await_offset(replica.client, Offset(name, offset + 1_000_000), 20)
        with pytest.raises(ResponseError, match="NOHISTORY The data here are of another history"):
            await_offset(replica.client, Offset("f" * 40, offset), 20)


def test_acks_in_asyncio(tmp_path: Path) -> None:
    primary = node_of(OURS, tmp_path / "primary")

    async def late() -> None:
        connect = in_asyncio.with_acks(1, timeout_ms=20)
        async with redis.asyncio.Redis(port=primary.port, redis_connect_func=connect) as client:
            with pytest.raises(ResponseError) as raised:
                await client.set("k", "v")
            assert in_asyncio.is_unconfirmed(raised.value)

    with started(primary):
        asyncio.run(late())


def test_what_a_pipeline_has_not_confirmed_is_told_so(tmp_path: Path) -> None:
    primary = node_of(OURS, tmp_path / "primary")

    async def in_a_loop() -> None:
        connect = in_asyncio.with_acks(1, timeout_ms=20)
        async with redis.asyncio.Redis(port=primary.port, redis_connect_func=connect) as client:
            for transaction in (False, True):
                pipeline: Any = client.pipeline(transaction=transaction).set("a", 1)
                pipeline.set("b", 2)
                with pytest.raises(ResponseError) as raised:
                    await pipeline.execute()
                assert in_asyncio.is_unconfirmed(raised.value)

    with started(primary):
        connect = with_acks(1, timeout_ms=20)
        with redis.Redis(port=primary.port, redis_connect_func=connect) as client:
            for transaction in (False, True):
                pipeline: Any = client.pipeline(transaction=transaction).set("a", 1)
                pipeline.set("b", 2)
                with pytest.raises(ResponseError) as raised:
                    pipeline.execute()
                assert is_unconfirmed(raised.value)
        asyncio.run(in_a_loop())


def test_a_token_outlives_a_failover_unless_what_it_tells_of_was_lost(tmp_path: Path) -> None:
    primary, replica = (node_of(OURS, tmp_path / name) for name in ("primary", "replica"))
    with started(primary, replica):
        await_link(replica)
        primary.client.set("k", "v")
        token = offset_of(primary.client)
        await_offset(replica.client, token, LONG_MS)
        replica.client.execute_command("REPLICAOF", "NO", "ONE")
        await_offset(replica.client, token, 20)  # a primary of that history by another name
        until(
            lambda: primary.client.info("replication")["connected_slaves"] == 0, "its replica gone"
        )
        primary.client.set("k", "lost")
        lost = offset_of(primary.client)
        assert lost.offset > token.offset
        with pytest.raises(ResponseError, match="NOHISTORY That history ended"):
            await_offset(replica.client, lost, 20)
