"""What users of fakeredis have reported; the numbers are those of its issues."""

import asyncio
import contextlib

import pytest
import redis
import redis.asyncio


def entries_of(reply):
    """The entries of the one stream in a reply to XREAD or XREADGROUP, in either protocol."""
    ((_, entries),) = reply.items() if isinstance(reply, dict) else reply
    while len(entries) == 1 and isinstance(entries[0], list):
        entries = entries[0]
    return [fields for _, fields in entries]


@pytest.mark.parametrize("protocol", [2, 3])
def test_344_a_read_of_a_group_gets_less_than_count_at_once(penstock, protocol):
    with penstock.client(protocol=protocol) as client:
        client.xadd("events", {"message": "hello"})
        client.xadd("events", {"message": "bye"})
        client.xgroup_create("events", "group", id="0")
        reply = client.xreadgroup("group", "one", {"events": ">"}, count=10, block=60_000)
        assert entries_of(reply) == [{b"message": b"hello"}, {b"message": b"bye"}]


def test_420_one_client_after_the_other_by_tcp(penstock):
    for _ in range(20):
        with redis.Redis(host=penstock.host, port=penstock.port) as client:
            client.rpush("test", b"foo")
        with redis.Redis(host=penstock.host, port=penstock.port) as client:
            assert client.rpop("test") == b"foo"


@pytest.mark.parametrize("protocol", [2, 3])
async def test_437_both_protocols_by_tcp(penstock, protocol):
    async with redis.asyncio.Redis(
        host=penstock.host, port=penstock.port, protocol=protocol, health_check_interval=30
    ) as client:
        await asyncio.wait_for(client.ping(), timeout=30)
        await client.hset("h", mapping={"a": "1"})
        assert await client.execute_command("HELLO") is not None
        raw = await client.execute_command("CLIENT", "INFO")
        fields = (
            raw
            if isinstance(raw, dict)
            else dict(part.split("=", 1) for part in raw.decode().split())
        )
        assert int(fields["resp"]) == protocol


async def test_471_a_wait_that_is_cancelled_leaves_the_client_usable(penstock_async_client):
    wait = asyncio.create_task(penstock_async_client.brpop("test"))
    while not (await penstock_async_client.info("clients"))["blocked_clients"]:
        await asyncio.sleep(0)
    wait.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await wait
    assert await asyncio.wait_for(penstock_async_client.get("test"), timeout=30) is None


async def test_a_read_waits_for_a_stream_that_does_not_exist(penstock_async_client, penstock):
    read = asyncio.create_task(penstock_async_client.xread({"stream": "$"}, block=0))
    while not (await penstock_async_client.info("clients"))["blocked_clients"]:
        await asyncio.sleep(0)
    assert not read.done()
    await penstock_async_client.xadd("stream", {"a": "1"})
    assert entries_of(await read) == [{b"a": b"1"}]


@pytest.mark.parametrize("protocol", [2, 3])
def test_xinfo_full_has_groups_consumers_and_pending_entries(penstock, protocol):
    with penstock.client(protocol=protocol, decode_responses=True) as client:
        first = client.xadd("events", {"n": "1"})
        client.xadd("events", {"n": "2"})
        client.xgroup_create("events", "group", id="0")
        client.xreadgroup("group", "one", {"events": ">"}, count=1)
        full = client.xinfo_stream("events", full=True)
        assert full["length"] == 2
        assert {"radix-tree-keys", "radix-tree-nodes", "last-generated-id"} <= set(full)
        (group,) = full["groups"]
        group = (
            group if isinstance(group, dict) else dict(zip(group[::2], group[1::2], strict=True))
        )
        assert group["name"] == "group"
        assert group["pel-count"] == 1
        assert group["lag"] == 1
        assert first in str(group["consumers"])


def test_xinfo_of_no_stream_is_an_error(penstock_client):
    with pytest.raises(redis.ResponseError, match="no such key"):
        penstock_client.xinfo_stream("none")
