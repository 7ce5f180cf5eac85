"""redis-py's pub/sub, synchronous and asyncio, works with the server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from threading import Event

import pytest
from redis import Redis
from redis.asyncio import Redis as AsyncRedis

WAIT_S = 5


@pytest.fixture
def client(port: int, protocol: int) -> Iterator[Redis]:
    with Redis(port=port, protocol=protocol, decode_responses=True) as connected:
        yield connected


def heard(pubsub, count: int) -> list[tuple]:
    """The next *count* messages: type, pattern, channel, data."""
    found = []
    while len(found) < count:
        message = pubsub.get_message(timeout=WAIT_S)
        assert message is not None, found
        found.append(tuple(message[name] for name in ("type", "pattern", "channel", "data")))
    return found


def test_channels_and_patterns(client: Redis) -> None:
    with client.pubsub() as pubsub:
        pubsub.subscribe("news", "sport")
        pubsub.psubscribe("n*")
        assert [one[0] for one in heard(pubsub, 3)] == ["subscribe", "subscribe", "psubscribe"]
        assert client.publish("news", "hello") == 2
        assert client.publish("sport", "goal") == 1
        assert heard(pubsub, 3) == [
            ("message", None, "news", "hello"),
            ("pmessage", "n*", "news", "hello"),
            ("message", None, "sport", "goal"),
        ]
        pubsub.unsubscribe()
        pubsub.punsubscribe()
        assert {one[0] for one in heard(pubsub, 3)} == {"unsubscribe", "punsubscribe"}
        assert client.publish("news", "nobody") == 0


def test_shard_channels(client: Redis) -> None:
    with client.pubsub() as pubsub:
        pubsub.ssubscribe("orders")
        assert heard(pubsub, 1)[0][0] == "ssubscribe"
        assert client.spublish("orders", "new") == 1
        assert heard(pubsub, 1) == [("smessage", None, "orders", "new")]
        assert client.pubsub_shardchannels() == ["orders"]
        assert client.pubsub_shardnumsub("orders") == [("orders", 1)]


def test_a_thread_hands_messages_to_their_handlers(client: Redis) -> None:
    got: list[str] = []
    with client.pubsub() as pubsub:
        pubsub.subscribe(jobs=lambda message: got.append(message["data"]))
        thread = pubsub.run_in_thread(sleep_time=0.001, daemon=True)
        while client.pubsub_numsub("jobs") != [("jobs", 1)]:
            Event().wait(0.001)
        for number in range(100):
            client.publish("jobs", number)
        while len(got) < 100:
            assert thread.is_alive()
            Event().wait(0.001)
        thread.stop()
        thread.join(WAIT_S)
    assert got == [str(number) for number in range(100)]


def test_the_health_check_of_a_subscriber_is_answered(port: int, protocol: int) -> None:
    with (
        Redis(port=port, protocol=protocol, health_check_interval=1) as client,
        client.pubsub() as pubsub,
    ):
        pubsub.subscribe("a")
        assert pubsub.get_message(timeout=WAIT_S)["type"] == "subscribe"
        pubsub.connection.next_health_check = 1.0
        pubsub.check_health()
        client.publish("a", "x")
        messages = [pubsub.get_message(timeout=WAIT_S) for _ in range(2)]
        assert [message["data"] for message in messages if message] == [b"x"]


def test_what_is_subscribed_is_shown(client: Redis) -> None:
    with client.pubsub() as pubsub:
        pubsub.subscribe("a", "b")
        pubsub.psubscribe("c*")
        heard(pubsub, 3)
        assert sorted(client.pubsub_channels()) == ["a", "b"]
        assert client.pubsub_numsub("a", "c") == [("a", 1), ("c", 0)]
        assert client.pubsub_numpat() == 1
        assert client.info("stats")["pubsub_channels"] == 2
        (row,) = client.client_list(_type="pubsub")
        assert (row["sub"], row["psub"], row["flags"]) == ("2", "1", "P")


def test_keyspace_notifications(client: Redis) -> None:
    client.config_set("notify-keyspace-events", "KEA")
    try:
        with client.pubsub() as pubsub:
            pubsub.psubscribe("__key*@0__:*")
            heard(pubsub, 1)
            client.set("k", "v")
            client.delete("k")
            assert [one[2:] for one in heard(pubsub, 4)] == [
                ("__keyspace@0__:k", "set"),
                ("__keyevent@0__:set", "k"),
                ("__keyspace@0__:k", "del"),
                ("__keyevent@0__:del", "k"),
            ]
    finally:
        client.config_set("notify-keyspace-events", "")


@pytest.mark.asyncio
async def test_an_asyncio_client_listens(port: int, protocol: int) -> None:
    async with (
        AsyncRedis(port=port, protocol=protocol, decode_responses=True) as client,
        client.pubsub() as pubsub,
    ):
        await pubsub.subscribe("news")
        await pubsub.psubscribe("n*")
        for _ in range(2):
            await pubsub.get_message(timeout=WAIT_S)
        sent = asyncio.create_task(_publish(client, 50))
        got = []
        async for message in pubsub.listen():
            got.append((message["type"], message["data"]))
            if len(got) == 100:
                break
        await sent
        assert got[:2] == [("message", "0"), ("pmessage", "0")]
        assert got[-1] == ("pmessage", "49")


async def _publish(client: AsyncRedis, count: int) -> None:
    for number in range(count):
        assert await client.publish("news", number) == 2
