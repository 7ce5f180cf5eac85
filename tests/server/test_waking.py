"""What a blocked client gets when something happens to its key, event by event.

Section 2.8 of the reference is the table; here is its column of the list commands.
"""

from __future__ import annotations

import pytest

NOTHING = "nothing has been answered"


@pytest.fixture
def waiter(house):
    """A client that waits for list a of database 0."""
    guest = house.client()
    guest.send_line("BLPOP a 0")
    return guest


def run(house, *lines):
    for line in lines:
        house.send_line(line)


@pytest.mark.parametrize(
    "lines",
    [
        ["DEL a"],
        ["FLUSHDB"],
        ["FLUSHALL"],
        ["SET a x"],
        ["SET a x", "DEL a"],
        ["SETRANGE a 3 x"],
        ["SET b x", "RENAME b a"],
        ["SET b x", "COPY b a"],
        ["SELECT 1", "RPUSH a x"],
        ["SELECT 1", "SET a x", "SWAPDB 0 1"],
        ["SWAPDB 0 1"],
        ["MULTI", "RPUSH a x", "RENAME a b", "EXEC"],
        ["MULTI", "RPUSH a x", "FLUSHALL", "EXEC"],
        ["MULTI", "RPUSH a x", "PEXPIREAT a 1", "EXEC"],
        ["MULTI", "RPUSH a x", "MOVE a 1", "EXEC"],
    ],
    ids=" ; ".join,
)
def test_it_stays_blocked(house, waiter, lines):
    run(house, *lines)
    assert waiter.waits
    assert waiter.reply() == NOTHING


@pytest.mark.parametrize(
    "lines",
    [
        ["RPUSH a x"],
        ["LPUSH a x"],
        ["RPUSH b x", "RENAME b a"],
        ["RPUSH b x", "RENAMENX b a"],
        ["RPUSH b x", "COPY b a"],
        ["SET a y", "RPUSH b x", "COPY b a REPLACE"],
        ["SET a y", "RPUSH b x", "RENAME b a"],
        ["RPUSH b x", "LMOVE b a LEFT LEFT"],
        ["RPUSH b x", "RPOPLPUSH b a"],
        ["SELECT 1", "RPUSH a x", "SWAPDB 0 1"],
        ["SELECT 1", "RPUSH a x", "SWAPDB 1 0"],
        ["SELECT 1", "RPUSH a x", "MOVE a 0"],
        ["SELECT 1", "RPUSH b x", "COPY b a DB 0"],
        ["MULTI", "RPUSH a y", "DEL a", "RPUSH a x", "EXEC"],
    ],
    ids=" ; ".join,
)
def test_it_gets_the_element(house, waiter, lines):
    run(house, *lines)
    assert waiter.reply() == [b"a", b"x"]
    assert house.state.blocking.queues == {}


def test_it_times_out_with_the_key_of_another_type_there(house):
    guest = house.client()
    guest.send_line("BLPOP a 1")
    house.send_line("SET a x")
    house.advance(1000)
    assert guest.reply() is None
