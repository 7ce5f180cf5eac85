"""WAITAOF: when it blocks, and what it refuses. And the longest timeouts of all commands."""

from __future__ import annotations

import asyncio

import pytest

from tests.server.running import running

NO_LOG = b"-ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled."


@pytest.fixture
def slow_disk(server):
    """The AOF takes writes, but none of them is on the disk yet."""
    server.log.syncs = False
    return server.log


def sync(server):
    """Let the disk catch up with the AOF."""
    server.log.synced_offset = server.log.offset
    server.turn(server.dispatcher.waits.serve_keyless)


def test_waitaof_does_not_block_a_client_that_has_written_nothing(server, slow_disk):
    server.client().send_line("SET a 1")
    assert server.send_line("WAITAOF 1 0 0") == [1, 0]


def test_waitaof_blocks_until_the_write_of_the_client_is_synced(server, slow_disk):
    server.send_line("SET a 1")
    server.send_line("WAITAOF 1 0 0")
    assert server.state.blocking.waiting == 1
    sync(server)
    assert server.owner.reply() == [1, 0]
    assert server.state.blocking.waiting == 0


def test_waitaof_answers_the_numbers_reached_at_its_timeout(server, slow_disk):
    server.send_line("SET a 1")
    server.send_line("WAITAOF 1 0 100")
    server.advance(101)
    assert server.owner.reply() == [0, 0]


def test_waitaof_for_a_replica_times_out_and_counts_the_local_sync(server, slow_disk):
    server.send_line("SET a 1")
    server.send_line("WAITAOF 1 1 100")
    sync(server)
    assert server.state.blocking.waiting == 1
    server.advance(101)
    assert server.owner.reply() == [1, 0]


def test_waitaof_ends_with_an_error_when_the_log_is_switched_off() -> None:
    async def scenario() -> None:
        async with running(appendonly=True) as instance:
            reader, writer = await instance.connect()
            _, other = await instance.connect()
            writer.write(b"WAITAOF 1 1 0\r\nPING\r\n")
            await instance.until(lambda: instance.waiting == 1)
            other.write(b"WAITAOF 0 1 0\r\n")
            await instance.until(lambda: instance.waiting == 2)
            _, owner = await instance.connect()
            owner.write(b"CONFIG SET appendonly no\r\n")
            assert await reader.readline() == NO_LOG + b"\r\n"
            assert await reader.readline() == b"+PONG\r\n"
            assert instance.waiting == 1  # it does not ask for the fsync of this server

    asyncio.run(scenario())


def test_waitaof_does_not_block_inside_exec(server, slow_disk):
    for line in ("MULTI", "SET a 1", "WAITAOF 1 1 0"):
        server.send_line(line)
    assert server.send_line("EXEC") == [b"OK", [1, 0]]


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("WAITAOF 2 0 0", "-ERR value is out of range, value must between 0 and 1"),
        ("WAITAOF x 0 0", "-ERR value is not an integer or out of range"),
        ("WAITAOF 0 -1 0", "-ERR value is out of range, must be positive"),
        ("WAITAOF 0 0 -1", "-ERR timeout is negative"),
        ("WAITAOF 0 0 1.5", "-ERR timeout is not an integer or out of range"),
    ],
)
def test_waitaof_refuses_bad_arguments(server, line, error):
    assert server.send_line(line) == error


def test_waitaof_for_a_local_sync_is_refused_without_a_log(server):
    server.state.propagation.set_durability(None)
    assert server.send_line("WAITAOF 1 0 0").startswith("-ERR WAITAOF cannot be used")
    assert server.send_line("WAITAOF 0 0 0") == [0, 0]


LATEST = 2**63 - 1
OUT_OF_RANGE = "-ERR timeout is out of range"
NO_INTEGER = "-ERR timeout is not an integer or out of range"


@pytest.mark.parametrize(
    ("timeout", "error"),
    [(LATEST, OUT_OF_RANGE), (LATEST + 1, NO_INTEGER), (-1, "-ERR timeout is negative")],
)
@pytest.mark.parametrize(
    "words", ["WAITAOF 0 1 {}", "XREAD BLOCK {} STREAMS s 0", "CLIENT PAUSE {}"]
)
def test_a_timeout_that_ends_beyond_64_bits_is_refused(server, words, timeout, error):
    assert server.send_line(words.format(timeout)) == error


@pytest.mark.parametrize("words", ["WAITAOF 0 1 {}", "XREAD BLOCK {} STREAMS s 0"])
def test_the_longest_timeout_ends_at_the_last_64_bit_millisecond(server, words):
    guest = server.client()
    assert guest.send_line(words.format(LATEST - server.now_ms + 1)) == OUT_OF_RANGE
    guest.send_line(words.format(LATEST - server.now_ms))
    assert guest.waits


@pytest.mark.parametrize(
    "words", ["BLPOP l {}", "BLMOVE l m LEFT LEFT {}", "BRPOPLPUSH l m {}", "BLMPOP {} 1 l LEFT"]
)
def test_a_timeout_in_seconds_may_not_end_beyond_64_bits_either(server, words):
    guest = server.client()
    assert guest.send_line(words.format(9223372036854775)) == OUT_OF_RANGE
    guest.send_line(words.format(9223370000000000))
    assert guest.waits
