"""WAITAOF: when it blocks, and what it refuses. And the longest timeouts of all commands."""

from __future__ import annotations

import pytest


@pytest.fixture
def slow_disk(house):
    """The log takes writes, but none of them is on the disk yet."""
    house.log.kept = False
    return house.log


def sync(house):
    """Let the disk catch up with the log."""
    house.log.synced_offset = house.log.offset
    house.dispatcher.serve_keyless()
    house.dispatcher.resume_unblocked()


def test_waitaof_does_not_block_a_client_that_has_written_nothing(house, slow_disk):
    house.client().send_line("SET a 1")
    assert house.send_line("WAITAOF 1 0 0") == [1, 0]


def test_waitaof_blocks_until_the_write_of_the_client_is_synced(house, slow_disk):
    house.send_line("SET a 1")
    house.send_line("WAITAOF 1 0 0")
    assert house.state.blocking.waiting == 1
    sync(house)
    assert house.owner.reply() == [1, 0]
    assert house.state.blocking.waiting == 0


def test_waitaof_answers_the_numbers_reached_at_its_timeout(house, slow_disk):
    house.send_line("SET a 1")
    house.send_line("WAITAOF 1 0 100")
    house.advance(101)
    assert house.owner.reply() == [0, 0]


def test_waitaof_for_a_replica_times_out_and_counts_the_local_sync(house, slow_disk):
    house.send_line("SET a 1")
    house.send_line("WAITAOF 1 1 100")
    sync(house)
    assert house.state.blocking.waiting == 1
    house.advance(101)
    assert house.owner.reply() == [1, 0]


def test_waitaof_does_not_block_inside_exec(house, slow_disk):
    for line in ("MULTI", "SET a 1", "WAITAOF 1 1 0"):
        house.send_line(line)
    assert house.send_line("EXEC") == [b"OK", [1, 0]]


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("WAITAOF 2 0 0", "-ERR value is out of range, must be between 0 and 1"),
        ("WAITAOF x 0 0", "-ERR value is not an integer or out of range"),
        ("WAITAOF 0 -1 0", "-ERR value is out of range, must be positive"),
        ("WAITAOF 0 0 -1", "-ERR timeout is negative"),
        ("WAITAOF 0 0 1.5", "-ERR timeout is not an integer or out of range"),
    ],
)
def test_waitaof_refuses_bad_arguments(house, line, error):
    assert house.send_line(line) == error


def test_waitaof_for_a_local_sync_is_refused_without_a_log(house):
    house.state.propagation.durability = None
    assert house.send_line("WAITAOF 1 0 0").startswith("-ERR WAITAOF cannot be used")
    assert house.send_line("WAITAOF 0 0 0") == [0, 0]


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
def test_a_timeout_that_ends_beyond_64_bits_is_refused(house, words, timeout, error):
    assert house.send_line(words.format(timeout)) == error


@pytest.mark.parametrize("words", ["WAITAOF 0 1 {}", "XREAD BLOCK {} STREAMS s 0"])
def test_the_longest_timeout_ends_at_the_last_64_bit_millisecond(house, words):
    guest = house.client()
    assert guest.send_line(words.format(LATEST - house.now_ms + 1)) == OUT_OF_RANGE
    guest.send_line(words.format(LATEST - house.now_ms))
    assert guest.waits


@pytest.mark.parametrize(
    "words", ["BLPOP l {}", "BLMOVE l m LEFT LEFT {}", "BRPOPLPUSH l m {}", "BLMPOP {} 1 l LEFT"]
)
def test_a_timeout_in_seconds_may_not_end_beyond_64_bits_either(house, words):
    guest = house.client()
    assert guest.send_line(words.format(9223372036854775)) == OUT_OF_RANGE
    guest.send_line(words.format(9223370000000000))
    assert guest.waits
