"""Readers of a group that wait beside each other: one looks for all, and none is forgotten."""

from __future__ import annotations

import pytest

from server.config.parameters import Config
from tests.server.conftest import NOTHING, SocketlessClient, SocketlessServer


class Queue(SocketlessServer):
    """A server with the stream s and its group g."""

    def __init__(self) -> None:
        super().__init__(Config())
        self.send_line("XGROUP CREATE s g 0 MKSTREAM")

    def wait(self, line: str) -> SocketlessClient:
        client = self.client()
        self.run(client.client, [word.encode() for word in line.split()])
        return client

    def reader(self, name: str, options: str = "") -> SocketlessClient:
        return self.wait(f"XREADGROUP GROUP g {name} COUNT 1 {options} BLOCK 0 STREAMS s >")

    def leave(self, client: SocketlessClient) -> None:
        self.state.blocking.client_left(client.client)

    def later(self, ms: int) -> None:
        for _ in range(ms):
            self.advance(1)


@pytest.fixture
def queue():
    return Queue()


def ids(client: SocketlessClient) -> list[bytes]:
    """What *client* was given; nothing if it still waits."""
    reply = client.reply()
    return [] if reply is NOTHING else [entry_id for entry_id, *_ in reply[0][1]]


@pytest.mark.parametrize(
    "stranger",
    [
        "XREAD BLOCK 0 STREAMS s 999",
        "XREADGROUP GROUP g n NOACK BLOCK 0 STREAMS s >",
        "XREADGROUP GROUP g n CLAIM 99999 BLOCK 0 STREAMS s >",
        "XREADGROUP GROUP g n BLOCK 0 STREAMS s s > >",
    ],
)
def test_an_alarm_is_passed_on_by_whoever_has_inherited_it(queue, stranger):
    queue.send_line("XGROUP CFGSET s g VISIBILITY 20")
    first = queue.reader("first")
    other = queue.wait(stranger)
    last = queue.reader("last")
    for line in ("MULTI", "XADD s 1-0 f v", "XREADGROUP GROUP g c STREAMS s >", "EXEC"):
        queue.send_line(line)
    queue.leave(first)
    queue.leave(other)
    queue.later(19)
    assert ids(last) == []
    queue.later(1)
    assert ids(last) == [b"1-0"]


@pytest.mark.parametrize(
    ("policy", "then"),
    [("RELEASED yes", "XNACK s g SILENT IDS 1 1-0"), ("MAXPENDING 1", "XACK s g 1-0")],
)
def test_who_began_to_wait_before_the_policy_is_woken_by_it(queue, policy, then):
    queue.send_line("XADD s 1-0 f v")
    queue.send_line("XREADGROUP GROUP g c STREAMS s >")
    first, last = queue.reader("first"), queue.reader("last")
    queue.send_line(f"XGROUP CFGSET s g {policy}")
    if "MAXPENDING" in policy:
        queue.send_line("XADD s 2-0 f v")
    queue.leave(first)
    queue.send_line(then)
    assert ids(last) == [b"2-0" if "MAXPENDING" in policy else b"1-0"]


def test_the_order_stays_when_they_become_equal_again(queue):
    first, last = queue.reader("first"), queue.reader("last")
    queue.send_line("XGROUP CFGSET s g MAXPENDINGPERCONSUMER 1")
    queue.send_line("XGROUP CFGSET s g MAXPENDINGPERCONSUMER 0")
    queue.send_line("XADD s 1-0 f v")
    assert (ids(first), ids(last)) == ([b"1-0"], [])


def test_setid_with_clear_wakes_them(queue):
    queue.send_line("XGROUP CFGSET s g VISIBILITY 1000")
    queue.send_line("XADD s 1-0 f v")
    queue.send_line("XREADGROUP GROUP g c STREAMS s >")
    waits = queue.reader("first")
    queue.send_line("XGROUP SETID s g 0 CLEAR")
    assert ids(waits) == [b"1-0"]


def test_what_waits_behind_a_dead_letter_is_given_in_the_next_moment(queue):
    queue.send_line("XADD dead 1-0 f v")
    policy = "VISIBILITY 10 MAXDELIVERIES 1 DEADLETTER dead ORDERBY f"
    queue.send_line(f"XGROUP CFGSET s g {policy}")
    queue.send_line("XADD s 1-0 f x")
    queue.send_line("XREADGROUP GROUP g c STREAMS s >")
    queue.send_line("XADD s 2-0 f x")
    queue.send_line("XREADGROUP GROUP g c STREAMS s >")
    queue.send_line("XGROUP CFGSET s g ACTIVE 1")
    queue.later(10)
    waits = queue.reader("a")
    queue.later(1)
    assert ids(waits) == [b"2-0"]


def test_who_needs_no_acknowledgement_is_spoken_for_by_nobody(queue):
    queue.send_line("XADD s 1-0 f v")
    queue.send_line("XREADGROUP GROUP g c STREAMS s >")
    readers = [queue.reader("a"), queue.reader("b", "NOACK"), queue.reader("c")]
    queue.send_line("XGROUP CFGSET s g MAXPENDING 1")
    queue.send_line("XADD s 2-0 f v")
    assert [ids(reader) for reader in readers] == [[], [b"2-0"], []]


def test_a_counter_that_is_not_known_is_no_number(queue):
    """Less than none read of the most that can be added: that has no place in 64 bits."""
    queue.send_line("XADD s 1-0 f v")
    queue.send_line("XSETID s 1-0 ENTRIESADDED 9223372036854775807")
    queue.send_line("XGROUP SETID s g 0-1")
    assert queue.send_line("XREADGROUP GROUP g a STREAMS s >")[0][1] == [[b"1-0", [b"f", b"v"]]]
