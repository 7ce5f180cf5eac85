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


# ---------------------------------------------------------------------- readers by a pattern


def by_pattern(queue: Queue, name: str, options: str = "") -> SocketlessClient:
    return queue.wait(f"XREADGROUP GROUP g {name} COUNT 1 {options} BLOCK 0 MKGROUP MATCH t:* >")


def idle_ms(queue: Queue, key: str) -> dict[bytes, int]:
    """For each consumer of the group g of *key* since when it has not been looked at."""
    rows = queue.send_line(f"XINFO CONSUMERS {key} g")
    return {row[1]: row[row.index(b"idle") + 1] for row in rows}


@pytest.fixture
def streams(queue):
    """The streams t:a, t:b and t:c, whose group g has VISIBILITY."""
    for key in ("t:a", "t:b", "t:c"):
        queue.send_line(f"XGROUP CREATE {key} g 0 MKSTREAM")
        queue.send_line(f"XGROUP CFGSET {key} g VISIBILITY 20")
    return queue


def test_of_many_who_read_by_a_pattern_one_looks_at_the_streams_that_may_have_something(streams):
    readers = [by_pattern(streams, name) for name in ("first", "second", "third", "fourth")]
    streams.later(10)
    streams.send_line("XADD t:a 1-0 f v")
    assert [ids(reader) for reader in readers] == [[b"1-0"], [], [], []]
    assert idle_ms(streams, "t:a") == {b"first": 0, b"second": 0}
    assert idle_ms(streams, "t:c") == {b"first": 10}


def test_what_comes_goes_to_one_after_the_other(streams):
    readers = [by_pattern(streams, name) for name in ("first", "second", "third")]
    for at, key in enumerate(("t:b", "t:a", "t:b"), 1):
        streams.send_line(f"XADD {key} {at}-0 f v")
    assert sorted(ids(reader) for reader in readers) == [[b"1-0"], [b"2-0"], [b"3-0"]]


def test_several_entries_at_once_go_to_as_many(streams):
    readers = [by_pattern(streams, name, "MAXCOUNT 1") for name in ("first", "second", "third")]
    for line in ("MULTI", "XADD t:a 1-0 f v", "XADD t:a 2-0 f v", "XADD t:c 3-0 f v", "EXEC"):
        streams.send_line(line)
    assert sorted(ids(reader) for reader in readers) == [[b"1-0"], [b"2-0"], [b"3-0"]]


@pytest.mark.parametrize("options", ["", "NOACK", "CLAIM 99999"])
def test_an_alarm_is_passed_on_among_readers_by_a_pattern(streams, options):
    first = by_pattern(streams, "first")
    other = by_pattern(streams, "other", options)
    last = by_pattern(streams, "last")
    for line in ("MULTI", "XADD t:b 1-0 f v", "XREADGROUP GROUP g c STREAMS t:b >", "EXEC"):
        streams.send_line(line)
    streams.leave(first)
    streams.leave(other)
    streams.later(19)
    assert ids(last) == []
    streams.later(1)
    assert ids(last) == [b"1-0"]


def test_who_would_claim_is_spoken_for_by_nobody_also_before_there_is_a_group(queue):
    """Once, who read without CLAIM spoke for who read with it, if no stream had the group yet."""
    waits = "XREADGROUP GROUP g {} {} BLOCK 0 MATCH t:* >"
    queue.wait(waits.format("plain", ""))
    claims = queue.wait(waits.format("claims", "CLAIM 1000"))
    queue.send_line("XGROUP CREATE t:a g 0 MKSTREAM")
    for line in ("MULTI", "XADD t:a 1-0 f v", "XREADGROUP GROUP g c STREAMS t:a >", "EXEC"):
        queue.send_line(line)
    queue.later(999)
    assert ids(claims) == []
    queue.later(1)
    assert ids(claims) == [b"1-0"]


def test_who_is_given_something_leaves_the_alarm_to_those_who_wait(streams):
    readers = [by_pattern(streams, name) for name in ("first", "second", "third")]
    streams.send_line("XADD t:a 1-0 f v")
    assert ids(readers[0]) == [b"1-0"]
    streams.later(19)
    assert [ids(reader) for reader in readers[1:]] == [[], []]
    streams.later(1)
    assert sorted(ids(reader) for reader in readers[1:]) == [[], [b"1-0"]]


def test_who_may_not_read_all_streams_speaks_for_nobody(streams):
    streams.send_line("ACL SETUSER ann on nopass +@all ~t:c")
    ann = streams.client()
    ann.send_line("AUTH ann any")
    ann.send_line("XREADGROUP GROUP g ann COUNT 1 BLOCK 0 MATCH t:* >")
    other = by_pattern(streams, "other")
    streams.send_line("XADD t:a 1-0 f v")
    assert (ids(ann), ids(other)) == ([], [b"1-0"])
