"""Subscribers over real sockets, on each event loop and with each backend of sockets."""

from __future__ import annotations

import asyncio

from server.config.parameter import OutputLimit
from server.parts.pubsub.message import Message
from tests.server.running import Running, Streams, ask, on_each_loop, running

NO_LIMIT = OutputLimit(0, 0, 0)
CONFIRMED = b"*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n"


async def subscriber(instance: Running) -> Streams:
    """A client that is subscribed to the channel a."""
    streams = await instance.connect()
    assert await ask(streams, b"SUBSCRIBE a\r\n", len(CONFIRMED)) == CONFIRMED
    return streams


def publish(text: bytes) -> bytes:
    """PUBLISH a *text*, which may be longer than a line."""
    return b"*3\r\n$7\r\nPUBLISH\r\n$1\r\na\r\n$%d\r\n%b\r\n" % (len(text), text)


async def heard(streams: Streams, message: Message, resp: int = 2) -> bool:
    """Whether the next that comes is *message*."""
    expected = message.encoded(resp)
    return await streams[0].readexactly(len(expected)) == expected


@on_each_loop
async def test_a_message_reaches_all_subscribers() -> None:
    async with running() as instance:
        subscribers = [await subscriber(instance) for _ in range(20)]
        publisher = await instance.connect()
        assert await ask(publisher, b"PUBLISH a x\r\nPUBLISH a y\r\n", 10) == b":20\r\n:20\r\n"
        for streams in subscribers:
            assert await heard(streams, Message([b"message", b"a", b"x"]))
            assert await heard(streams, Message([b"message", b"a", b"y"]))


@on_each_loop
async def test_a_long_message_reaches_all_subscribers() -> None:
    async with running() as instance:
        subscribers = [await subscriber(instance) for _ in range(3)]
        publisher, text = await instance.connect(), bytes(3_000_000)
        publisher[1].write(publish(text))
        assert await publisher[0].readexactly(4) == b":3\r\n"
        for streams in subscribers:
            assert await heard(streams, Message([b"message", b"a", text]))


@on_each_loop
async def test_a_client_that_waits_for_a_key_gets_its_messages_meanwhile() -> None:
    async with running() as instance:
        waiting, other = await instance.connect(), await instance.connect()
        waiting[1].write(b"HELLO 3\r\n")
        waiting[1].write(b"SUBSCRIBE a\r\nBLPOP l 0\r\n")
        await instance.until(lambda: instance.waiting == 1)
        await waiting[0].readuntil(CONFIRMED.replace(b"*", b">"))
        assert await ask(other, b"PUBLISH a x\r\n", 4) == b":1\r\n"
        assert await heard(waiting, Message([b"message", b"a", b"x"]), 3)
        assert await ask(other, b"RPUSH l y\r\n", 4) == b":1\r\n"
        assert await waiting[0].readexactly(18) == b"*2\r\n$1\r\nl\r\n$1\r\ny\r\n"


@on_each_loop
async def test_what_a_pause_holds_back_is_not_run_by_a_message() -> None:
    async with running() as instance:
        held, other = await instance.connect(), await instance.connect()
        held[1].write(b"HELLO 3\r\nSUBSCRIBE a\r\n")
        await held[0].readuntil(CONFIRMED.replace(b"*", b">"))
        await ask(other, b"CLIENT PAUSE 100000 WRITE\r\n", 5)
        held[1].write(b"INCR n\r\n")
        await instance.until(lambda: instance.server.state.pausing.waiting == 1)
        message = Message([b"message", b"a", b"x"])
        instance.server.state.pubsub.publish(b"a", b"x")
        assert await heard(held, message, 3)
        assert instance.server.state.pausing.waiting == 1
        await ask(other, b"CLIENT UNPAUSE\r\n", 5)
        assert await held[0].readexactly(4) == b":1\r\n"


@on_each_loop
async def test_a_key_that_cron_expires_is_told_without_any_command() -> None:
    async with running(hz=500) as instance:
        listening, other = await instance.connect(), await instance.connect()
        await ask(other, b"CONFIG SET notify-keyspace-events Ex\r\n", 5)
        channel = b"__keyevent@0__:expired"
        listening[1].write(b"SUBSCRIBE %b\r\n" % channel)
        await listening[0].readuntil(b":1\r\n")
        await ask(other, b"SET k v PX 1\r\n", 5)
        assert await heard(listening, Message([b"message", channel, b"k"]))


@on_each_loop
async def test_a_slow_subscriber_is_disconnected_at_its_limit_and_the_others_go_on() -> None:
    limits = {"normal": NO_LIMIT, "pubsub": OutputLimit(1 << 22, 0, 0)}
    async with running(client_output_buffer_limit=limits) as instance:
        slow, other = await subscriber(instance), await subscriber(instance)
        state = instance.server.state
        slow[1].transport.pause_reading()  # type: ignore[attr-defined]
        publisher, text = await instance.connect(), b"x" * 100_000
        message = Message([b"message", b"a", text])
        sent = 0
        while state.pubsub.clients == 2:
            publisher[1].write(publish(text))
            await publisher[0].readline()
            assert await heard(other, message)
            sent += 1
            assert sent < 1000
        assert state.stats.output_limit_disconnections == 1
        assert await ask(publisher, b"PUBLISH a y\r\n", 4) == b":1\r\n"


@on_each_loop
async def test_unread_messages_count_as_memory_until_the_subscriber_has_gone() -> None:
    async with running() as instance:
        memory = instance.server.state.memory
        publisher = await instance.connect()
        await ask(publisher, b"PING\r\n", 7)
        before = memory.clients
        slow = await subscriber(instance)
        slow[1].transport.pause_reading()  # type: ignore[attr-defined]
        for _ in range(100):
            publisher[1].write(publish(b"x" * 200_000))
            await publisher[0].readline()
        assert memory.clients > before + 5_000_000
        slow[1].transport.abort()
        await instance.until(lambda: memory.clients <= before)
        assert instance.server.state.pubsub.channels == {}


@on_each_loop
async def test_a_subscriber_is_not_closed_for_being_idle() -> None:
    async with running(timeout=60) as instance:
        await subscriber(instance)
        other = await instance.connect()
        await ask(other, b"PING\r\n", 7)
        for client in instance.server.state.clients.values():
            client.last_used_ms = 0
        instance.server.clients.tick(0)
        assert [client.is_subscribed for client in instance.server.state.clients.values()] == [True]


@on_each_loop
async def test_a_subscriber_that_leaves_leaves_nothing_behind() -> None:
    async with running() as instance:
        state = instance.server.state
        streams = await subscriber(instance)
        streams[1].write(b"PSUBSCRIBE a* b*\r\nSSUBSCRIBE s\r\n")
        await instance.until(lambda: len(state.pubsub.shard_channels) == 1)
        streams[1].close()
        await instance.until(lambda: state.pubsub.clients == 0)
        pubsub = state.pubsub
        assert (pubsub.channels, pubsub.patterns, pubsub.shard_channels) == ({}, {}, {})
        await instance.until(lambda: state.memory.clients == 0)
        await asyncio.sleep(0)
