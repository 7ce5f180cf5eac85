"""WAITAOF: who has fsynced, how long one waits for it, and what it refuses."""

from __future__ import annotations

import pytest


@pytest.fixture
def slow_disk(house):
    """The log takes writes, and has none of them on the disk yet."""
    house.log.kept = False
    return house.log


def sync(house):
    """The disk has caught up."""
    house.log.synced_offset = house.log.offset
    house.dispatcher.serve_keyless()
    house.dispatcher.resume_unblocked()


def test_who_has_written_nothing_waits_for_nothing(house, slow_disk):
    house.client().send_line("SET a 1")
    assert house.send_line("WAITAOF 1 0 0") == [1, 0]


def test_a_writer_waits_until_its_write_is_synced(house, slow_disk):
    house.send_line("SET a 1")
    house.send_line("WAITAOF 1 0 0")
    assert house.state.blocking.waiting == 1
    sync(house)
    assert house.owner.reply() == [1, 0]
    assert house.state.blocking.waiting == 0


def test_after_the_timeout_it_hears_how_far_all_are(house, slow_disk):
    house.send_line("SET a 1")
    house.send_line("WAITAOF 1 0 100")
    house.advance(101)
    assert house.owner.reply() == [0, 0]


def test_one_who_waits_for_a_replica_waits_in_vain_but_hears_of_the_sync(house, slow_disk):
    house.send_line("SET a 1")
    house.send_line("WAITAOF 1 1 100")
    sync(house)
    assert house.state.blocking.waiting == 1
    house.advance(101)
    assert house.owner.reply() == [1, 0]


def test_inside_a_transaction_nobody_waits(house, slow_disk):
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
def test_bad_arguments(house, line, error):
    assert house.send_line(line) == error


def test_without_a_log_there_is_nothing_to_wait_for(house):
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
def test_a_timeout_that_ends_beyond_64_bits_was_taken(house, words, timeout, error):
    assert house.send_line(words.format(timeout)) == error


@pytest.mark.parametrize("words", ["WAITAOF 0 1 {}", "XREAD BLOCK {} STREAMS s 0"])
def test_the_longest_timeout_ends_at_the_end_of_all_times(house, words):
    guest = house.client()
    assert guest.send_line(words.format(LATEST - house.now_ms + 1)) == OUT_OF_RANGE
    guest.send_line(words.format(LATEST - house.now_ms))
    assert guest.waits


@pytest.mark.parametrize(
    "words", ["BLPOP l {}", "BLMOVE l m LEFT LEFT {}", "BRPOPLPUSH l m {}", "BLMPOP {} 1 l LEFT"]
)
def test_a_timeout_in_seconds_too(house, words):
    guest = house.client()
    assert guest.send_line(words.format(9223372036854775)) == OUT_OF_RANGE
    guest.send_line(words.format(9223370000000000))
    assert guest.waits
