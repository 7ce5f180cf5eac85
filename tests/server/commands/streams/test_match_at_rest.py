"""MATCH of XREADGROUP over many streams: those that have nothing are not looked at.

A stream that had nothing rests until something happens to it, or until its time comes; one whose
group has ACTIVE is kept for its active consumer.
"""

from __future__ import annotations

import gc
import sys

import pytest

from server.commands.streams.reading import (
    active_consumer,
    stream_patterns,
    stream_request,
    waiting_readers,
)
from server.parts.waiting import pattern_reads
from storage.rdb.crc64 import crc64
from tests.server.commands.streams.test_match import READ, found, seen_ms_ago
from tests.server.conftest import NOTHING

NAMES = ("t:a", "t:b", "t:c")
WAIT = "XREADGROUP GROUP g {} BLOCK 0 {} MATCH t:* >"


@pytest.fixture
def streams(server):
    """The empty streams t:a, t:b and t:c, which have the group g."""
    for key in NAMES:
        server.send_line(f"XGROUP CREATE {key} g 0 MKSTREAM")
    return server


@pytest.fixture
def names(server):
    """Whom the streams of the database know as their readers."""
    return lambda: (
        server.state.blocking.patterns.readers(
            server.state.databases[0], [b"none"], None, None
        ).names
    )


def test_a_stream_whose_dead_letters_cannot_move_is_looked_at_once_a_second(streams):
    """Once, each call looked at all such streams."""
    streams.send_line("XADD dead 1-0 f v")
    for key in NAMES:
        streams.send_line(f"XADD {key} 1-0 f v")
        streams.send_line(f"XGROUP CFGSET {key} g VISIBILITY 50 MAXDELIVERIES 1 DEADLETTER dead")
    assert len(found(streams.send_line(READ.format("COUNT 9")))) == 3
    streams.send_line("SET dead text")
    streams.advance(60)
    waiter = streams.client()
    waiter.send_line(WAIT.format("c", ""))
    readers = waiter.client.waiter.block.readers
    assert (len(readers.fresh), len(readers.resting)) == (0, 3)
    streams.send_line("DEL dead")
    streams.send_line("XADD dead 1-0 f v")
    streams.advance(1000)
    assert streams.send_line("XLEN dead") == 4


@pytest.mark.parametrize("options", ["", "NOACK", "WHERE f 1 v", "CLAIM 60000"])
@pytest.mark.parametrize(
    "policy", ["VISIBILITY 1000", "ORDERBY f", "MAXPENDINGPERCONSUMER 9", "ACTIVE 1", ""]
)
def test_a_stream_that_has_nothing_is_not_looked_at(streams, options, policy):
    for key in NAMES:
        streams.send_line(f"XADD {key} 1-0 f other")
        if policy:
            streams.send_line(f"XGROUP CFGSET {key} g {policy}")
    line = READ.format(f"{options} COUNT 9")
    for _ in range(3):
        streams.send_line(line)
    streams.advance(100)
    streams.send_line("XADD t:b 8-0 f v")
    assert found(streams.send_line(line)) == {"t:b": [8]}
    assert [seen_ms_ago(streams, key) for key in NAMES] == [100, 0, 100]


def test_a_shorter_claim_finds_what_a_longer_one_does_not(streams):
    streams.send_line("XADD t:b 1-0 f v")
    streams.send_line("XREADGROUP GROUP g ann STREAMS t:b >")
    assert streams.send_line(READ.format("CLAIM 60000")) is None
    streams.advance(100)
    assert found(streams.send_line(READ.format("CLAIM 50"))) == {"t:b": [1]}


@pytest.mark.parametrize("options", ["", "CLAIM 60000", "WHERE f 1 v"])
def test_who_acknowledges_nothing_finds_what_a_limit_keeps_from_others(streams, options):
    streams.send_line("XGROUP CFGSET t:b g MAXPENDING 1")
    for ms in (1, 2):
        streams.send_line(f"XADD t:b {ms}-0 f v")
    assert found(streams.send_line(READ.format(options))) == {"t:b": [1]}
    assert streams.send_line(READ.format(options)) is None
    assert found(streams.send_line(READ.format(options + " NOACK"))) == {"t:b": [2]}


@pytest.mark.parametrize("policy", ["VISIBILITY 60000", "ORDERBY f"])
def test_a_look_that_where_has_ended_goes_on(streams, monkeypatch, policy):
    monkeypatch.setattr(stream_request, "LOOKS", 1)
    streams.send_line(f"XGROUP CFGSET t:b g {policy}")
    for ms in range(1, 6):
        streams.send_line(f"XADD t:b {ms}-0 f {ms}")
    assert found(streams.send_line(READ.format("WHERE f 1 5"))) == {"t:b": [5]}


@pytest.mark.parametrize("wait", ["", "BLOCK 0"])
def test_a_delivery_in_the_far_future_of_a_restored_stream(streams, wait):
    """Once, the time at which it may be claimed was too great for 64 bits."""
    streams.send_line("XADD t:b 1-0 f v")
    streams.send_line("XREADGROUP GROUP g ann STREAMS t:b >")
    payload = streams.send_line("DUMP t:b")[:-8]
    delivered = streams.now_ms.to_bytes(8, "little")
    assert delivered in payload
    payload = payload.replace(delivered, (2**63 - 1).to_bytes(8, "little"))
    payload += crc64(payload).to_bytes(8, "little")
    assert streams.send("RESTORE", "t:b", 0, payload, "REPLACE") == b"OK"
    waiter = streams.client()
    reply = waiter.send_line(f"XREADGROUP GROUP g c {wait} CLAIM 1000 MATCH t:* >")
    assert reply == (NOTHING if wait else None)
    streams.send_line("XADD t:b 2-0 f v")
    assert found(waiter.reply() if wait else streams.send_line(READ.format(""))) == {"t:b": [2]}


def test_what_one_consumer_has_no_room_for_is_for_others(streams):
    for key in NAMES:
        streams.send_line(f"XGROUP CFGSET {key} g MAXPENDINGPERCONSUMER 1")
        for ms in range(1, 4):
            streams.send_line(f"XADD {key} {ms}-0 f v")
    full, other = [streams.client() for _ in "ab"]
    for _ in range(2):
        reply = full.send_line(WAIT.format("ann", ""))
    assert reply == NOTHING
    assert found(other.send_line(WAIT.format("bob", ""))) == {key: [2] for key in NAMES}
    streams.send_line("XACK t:c g 1-0")
    assert found(full.reply()) == {"t:c": [3]}


@pytest.mark.parametrize("source", ["MATCH t:b >", "STREAMS t:b >"])
def test_who_has_no_room_speaks_for_nobody(streams, source):
    streams.send_line("XGROUP CFGSET t:b g MAXPENDINGPERCONSUMER 1")
    streams.send_line("XADD t:b 1-0 f v")
    streams.send_line("XREADGROUP GROUP g ann STREAMS t:b >")
    full, other = [streams.client() for _ in "ab"]
    full.send_line(f"XREADGROUP GROUP g ann BLOCK 0 {source}")
    other.send_line(f"XREADGROUP GROUP g bob BLOCK 0 {source}")
    streams.send_line("XADD t:b 2-0 f v")
    assert found(other.reply()) == {"t:b": [2]}
    assert full.reply() == NOTHING


class TestActive:
    @pytest.fixture
    def active(self, streams):
        """Each stream has an entry, which ann has, the active consumer of each group."""
        for key in NAMES:
            streams.send_line(f"XGROUP CFGSET {key} g ACTIVE 1 TIMEOUT 1000")
            streams.send_line(f"XADD {key} 1-0 f v")
            streams.send_line(f"XREADGROUP GROUP g ann STREAMS {key} >")
        return streams

    def test_what_others_may_not_read_is_kept_for_its_consumer(self, active):
        active.send_line("XADD t:b 2-0 f v")
        assert active.send_line(READ.replace(" c ", " bob ").format("")) is None
        assert found(active.send_line(READ.replace(" c ", " ann ").format(""))) == {"t:b": [2]}
        assert active.send_line(READ.replace(" c ", " ann ").format("")) is None

    def test_of_all_that_wait_the_active_one_is_served(self, active):
        waiters = {name: active.client() for name in ("bob", "ann", "cid")}
        for name, waiter in waiters.items():
            waiter.send_line(WAIT.format(name, ""))
        for ms, key in enumerate((*NAMES, "t:a"), 2):
            active.send_line(f"XADD {key} {ms}-0 f v")
            assert found(waiters["ann"].reply()) == {key: [ms]}
            waiters["ann"].send_line(WAIT.format("ann", ""))
        assert [waiter.reply() for waiter in waiters.values()] == [NOTHING] * 3

    @pytest.mark.parametrize("source", ["MATCH t:a >", "STREAMS t:a >"])
    def test_who_has_read_while_a_stream_rests_is_not_silent(self, active, source):
        """It was not looked at, since nothing had happened to it."""
        assert active.send_line(READ.replace(" c ", " ann ").format("")) is None
        active.advance(900)
        assert active.send_line(READ.replace(" c ", " ann ").format("")) is None
        replies = []
        for ms in (100, 250, 650, 249, 1):
            active.advance(ms)
            replies.append(found(active.send_line(f"XREADGROUP GROUP g bob {source}")))
        assert replies == [{}, {}, {}, {}, {"t:a": [1]}]

    @pytest.mark.parametrize("stands_by_first", [True, False])
    def test_a_silence_is_noticed_however_many_wait(self, active, monkeypatch, stands_by_first):
        looks = []

        def counted(*args):
            looks.append(args)
            return waiting_readers.waits_as(*args)

        monkeypatch.setattr(active_consumer, "waits_as", counted)
        ann, *others = clients = [active.client() for _ in range(20)]
        for number in range(20)[:: -1 if stands_by_first else 1]:
            clients[number].send_line(WAIT.format(f"n-{number}" if number else "ann", ""))
        for _ in range(3):
            active.advance(1000)
        assert len(looks) <= 3 * len(NAMES)
        ann.leave()
        for _ in range(8):
            active.advance(250)
        replies = [found(other.reply()) for other in others if not other.waits]
        assert replies == [{key: [1] for key in NAMES}]

    def test_who_waits_in_another_group_is_another(self, active):
        active.send_line("XGROUP CREATE t:a other $")
        active.client().send_line("XREADGROUP GROUP other ann BLOCK 0 STREAMS t:a >")
        bob = active.client()
        bob.send_line("XREADGROUP GROUP g bob BLOCK 0 STREAMS t:a >")
        for _ in range(5):
            active.advance(250)
        assert found(bob.reply()) == {"t:a": [1]}

    def test_who_reads_for_another_group_is_another(self, active):
        active.send_line("XGROUP CREATE t:a other $")
        for _ in range(14):
            active.send_line("XREADGROUP GROUP other ann MATCH t:a >")
            active.advance(100)
            reply = active.send_line("XREADGROUP GROUP g bob STREAMS t:a >")
            if reply is not None:
                break
        assert found(reply) == {"t:a": [1]}

    def test_streams_that_go_are_kept_for_nobody(self, active):
        waiter = active.client()
        waiter.send_line(WAIT.format("bob", ""))
        readers = waiter.client.waiter.block.readers
        assert {name: set(keys) for name, keys in readers.kept.items()} == {
            b"ann": {key.encode() for key in NAMES}
        }
        active.send_line("DEL t:a")
        assert set(readers.kept[b"ann"]) == {b"t:b", b"t:c"}
        active.send_line("FLUSHALL")
        assert readers.kept == {}

    def test_a_deleted_consumer_is_followed_at_once(self, active):
        waiter = active.client()
        waiter.send_line(WAIT.format("bob", ""))
        active.send_line("XGROUP DELCONSUMER t:b g ann HANDOVER")
        assert found(waiter.reply()) == {"t:b": [1]}


class TestKept:
    """What one sees that another one may have, which waits: that one looks, too."""

    @pytest.fixture
    def active(self, streams):
        """Ann is active in t:a, bob in t:b, nobody in t:c; all is acknowledged."""
        for key, name in (("t:a", "ann"), ("t:b", "bob")):
            streams.send_line(f"XGROUP CFGSET {key} g ACTIVE 1")
            streams.send_line(f"XADD {key} 1-0 f v")
            streams.send_line(f"XREADGROUP GROUP g {name} STREAMS {key} >")
            streams.send_line(f"XACK {key} g 1-0")
        return streams

    def wait(self, server, *names):
        waiters = {name: server.client() for name in names}
        for name, waiter in waiters.items():
            assert waiter.send_line(WAIT.format(name, "")) == NOTHING
        return waiters

    def all_at_once(self, server, *lines):
        for line in ("MULTI", *lines, "EXEC"):
            server.send_line(line)

    def test_by_one_that_is_served(self, active):
        waiters = self.wait(active, "ann", "cid", "bob")
        self.all_at_once(active, "XADD t:b 2-0 f v", "XADD t:a 2-0 f v")
        assert found(waiters["ann"].reply()) == {"t:a": [2]}
        assert found(waiters["bob"].reply()) == {"t:b": [2]}

    @pytest.mark.parametrize("options", ["", "BLOCK 0", "BLOCK 10"])
    def test_by_one_that_does_not_wait_yet(self, active, options):
        waiters = self.wait(active, "cid", "ann")
        eve = active.client()
        self.all_at_once(
            active, "XADD t:a 2-0 f v", f"XREADGROUP GROUP g eve {options} MATCH t:* >"
        )
        eve.send_line(f"XREADGROUP GROUP g eve {options} MATCH t:* >")
        assert found(waiters["ann"].reply()) == {"t:a": [2]}

    def test_by_one_that_comes_before_the_alarm(self, active):
        active.send_line("XADD t:a 2-0 f v")
        active.send_line("XREADGROUP GROUP g ann STREAMS t:a >")
        active.send_line("XNACK t:a g FAIL IDS 1 2-0 DELAY 100")
        waiters = self.wait(active, "cid", "ann")
        active.now_ms += 100
        assert active.send_line(READ.replace(" c ", " eve ").format("")) is None
        assert found(waiters["ann"].reply()) == {"t:a": [2]}

    def test_dead_letters_that_can_be_moved_again(self, active):
        active.send_line("XADD dead 1-0 f v")
        active.send_line("XGROUP CFGSET t:a g VISIBILITY 50 MAXDELIVERIES 1 DEADLETTER dead")
        active.send_line("XADD t:a 2-0 f v")
        active.send_line("XREADGROUP GROUP g ann STREAMS t:a >")
        active.send_line("SET dead x")
        active.advance(60)
        self.wait(active, "ann")
        active.send_line("DEL dead")
        active.send_line("XADD dead 1-0 f v")
        active.advance(1000)
        assert active.send_line("XLEN dead") == 2

    def test_by_one_that_goes_on(self, active, monkeypatch):
        monkeypatch.setattr(stream_patterns, "LOOKS", 1)
        waiters = self.wait(active, "cid", "dan", "ann")
        self.all_at_once(active, "XADD t:b 2-0 f v", "XADD t:a 2-0 f v")
        assert found(waiters["ann"].reply()) == {"t:a": [2]}

    def test_by_one_that_leaves_in_the_middle(self, active, monkeypatch):
        monkeypatch.setattr(stream_patterns, "LOOKS", 1)
        waiters = self.wait(active, "cid", "dan", "ann")
        active.call_soon, later = (lambda call: None), active.call_soon
        self.all_at_once(active, "XADD t:b 2-0 f v", "XADD t:a 2-0 f v")
        waiters["cid"].leave()
        active.call_soon = later
        active.turn(active.dispatcher.waits.read_on)
        assert found(waiters["ann"].reply()) == {"t:a": [2]}

    def test_two_that_look_for_all_do_not_keep_what_each_is_about_to_look_at(
        self, active, monkeypatch
    ):
        monkeypatch.setattr(stream_patterns, "LOOKS", 1)
        self.wait(active, "bob", "ann")
        self.all_at_once(
            active, "XGROUP CFGSET t:a g VISIBILITY 50", "XGROUP CFGSET t:b g VISIBILITY 50"
        )  # which ends

    @pytest.mark.parametrize(
        "policy",
        ["CONSUMERTIMEOUT 600000", "MAXPENDINGPERCONSUMER 1", "VISIBILITY 9 MAXDELIVERIES 1"],
    )
    def test_nobody_keeps_the_other_busy(self, active, monkeypatch, policy):
        monkeypatch.setattr(stream_patterns, "LOOKS", 1)
        active.send_line("XADD dead 1-0 f v")
        for key in ("t:a", "t:b"):
            active.send_line(f"XGROUP CFGSET {key} g {policy} DEADLETTER dead")
            active.send_line(f"XADD {key} 2-0 f v")
            active.send_line(
                f"XREADGROUP GROUP g {'ann' if key == 't:a' else 'bob'} STREAMS {key} >"
            )
        active.send_line("SET dead x")
        active.advance(10)
        active.client().send_line(WAIT.format("ann", ""))
        active.client().send_line(WAIT.format("bob", ""))
        self.all_at_once(active, "XADD t:a 3-0 f v", "XADD t:b 3-0 f v", "XADD t:zz 1-0 f v")


def test_another_looks_when_a_look_for_all_is_answered_or_leaves(streams, monkeypatch):
    """Once, only the next one did, and not the one after it."""
    monkeypatch.setattr(stream_patterns, "LOOKS", 1)
    waiters = [streams.client() for _ in range(3)]
    for number, waiter in enumerate(waiters):
        waiter.send_line(WAIT.format(number, "MAXCOUNT 1"))
    streams.send_line("MULTI")
    for n in range(4):
        streams.send_line(f"XADD t:{n} 1-0 f v")
    for key in NAMES:
        streams.send_line(f"XADD {key} 1-0 f v")
    streams.send_line("EXEC")
    assert [found(waiter.reply()) for waiter in waiters] == [{key: [1]} for key in NAMES]


@pytest.mark.parametrize("source", ["STREAMS t:b >", "MATCH t:* >"])
def test_a_clock_that_is_set_back_ends_no_rest_later(streams, source):
    streams.send_line("XGROUP CFGSET t:b g ACTIVE 1 TIMEOUT 100")
    streams.send_line("XADD t:b 1-0 f v")
    streams.send_line(f"XREADGROUP GROUP g ann {source}")
    waiter = streams.client()
    waiter.send_line(WAIT.format("bob", ""))
    streams.now_ms -= 3_600_000
    for _ in range(9):
        streams.advance(50)
    assert found(waiter.reply()) == {"t:b": [1]}


def test_what_a_waiting_xread_has_seen_of_streams_that_have_gone_is_forgotten(streams):
    waiter = streams.client()
    waiter.send_line("XREAD WHERE f 1 z BLOCK 0 MATCH x:* 0")
    for n in range(3 * stream_patterns.MANY):
        streams.send_line(f"XADD x:{n} 1-0 f v")
        streams.send_line(f"DEL x:{n}")
    assert len(waiter.client.waiter.block.resume.look.seen) <= stream_patterns.MANY + 2


class TestTurns:
    """One of those who wait looks at some streams in a turn, and for all who want the same."""

    @pytest.fixture
    def due(self, streams, monkeypatch):
        """Waiters ann and bob; nine streams of which something may come at one moment."""
        monkeypatch.setattr(stream_patterns, "LOOKS", 2)
        for n in range(9):
            streams.send_line(f"XGROUP CREATE t:{n} g 0 MKSTREAM")
            streams.send_line(f"XGROUP CFGSET t:{n} g VISIBILITY 1000")
            streams.send_line(f"XADD t:{n} 1-0 f v")
        while streams.send_line(READ.format("")):
            pass
        waiters = [streams.client() for _ in range(2)]
        for name, waiter in zip(("ann", "bob"), waiters, strict=True):
            waiter.send_line(WAIT.format(name, ""))
        for n in range(8):
            streams.send_line(f"XACK t:{n} g 1-0")
        streams.call_soon, streams.later = (lambda call: None), streams.call_soon
        streams.advance(1000)
        return streams, waiters

    def goes_on(self, waiter):
        return waiter.client.waiter.block.reads_on

    def test_one_goes_on_for_both(self, due):
        streams, (ann, bob) = due
        assert self.goes_on(ann)
        assert not self.goes_on(bob)
        turns = 0
        while ann.waits:
            streams.turn(streams.dispatcher.waits.read_on)
            turns += 1
        assert found(ann.reply()) == {"t:8": [1]}
        assert turns >= 3

    def test_another_goes_on_when_it_leaves(self, due):
        streams, (ann, bob) = due
        ann.leave()
        streams.call_soon = streams.later
        streams.turn(streams.dispatcher.waits.read_on)
        assert found(bob.reply()) == {"t:8": [1]}

    def test_another_goes_on_when_it_is_answered(self, due):
        streams, (ann, bob) = due
        streams.send_line("XADD t:1 5-0 f v")
        streams.send_line("XADD t:2 6-0 f v")
        streams.call_soon = streams.later
        streams.turn(streams.dispatcher.waits.read_on)
        given = found(ann.reply()) | found(bob.reply())
        rest = found(streams.send_line(READ.format("")))
        assert given | rest == {"t:1": [5], "t:2": [6], "t:8": [1]}
        assert not bob.waits

    def test_what_the_one_has_no_room_for_is_for_the_other(self, due):
        streams, (ann, bob) = due
        for line in (
            "MULTI", "XACK t:8 g 1-0", "XGROUP CFGSET t:8 g MAXPENDINGPERCONSUMER 1",
            "XADD t:8 5-0 f v", "XREADGROUP GROUP g ann STREAMS t:8 >", "XADD t:8 6-0 f v", "EXEC",
        ):  # fmt: skip
            streams.send_line(line)
        assert ann.waits
        assert not self.goes_on(bob)
        streams.call_soon = streams.later
        streams.turn(streams.dispatcher.waits.read_on)
        assert found(bob.reply()) == {"t:8": [6]}

    def test_one_waiter_goes_on_in_a_turn(self, streams, monkeypatch):
        monkeypatch.setattr(pattern_reads, "AT_ONCE", 1)
        for n in range(50):
            streams.send_line(f"SET key{n} x")
        streams.call_soon = lambda call: None
        waiters = [streams.client() for _ in range(3)]
        for number, waiter in enumerate(waiters):
            waiter.send_line(f"XREAD BLOCK 0 MATCH t:{number}* $")
        blocking = streams.state.blocking
        ran = [blocking.take_unfinished().client for _ in range(3)]
        assert ran == [waiter.client for waiter in waiters]
        assert blocking.take_unfinished() is None


def test_who_wants_different_things_is_served_in_the_order_in_which_they_came(streams):
    waiters = [streams.client() for _ in range(4)]
    options = ("CLAIM 60000", "", "NOACK", "")
    for number, waiter in enumerate(waiters):
        waiter.send_line(WAIT.format(number, options[number]))
    for ms, waiter in enumerate(waiters, 1):
        streams.send_line(f"XADD t:a {ms}-0 f v")
        assert found(waiter.reply()) == {"t:a": [ms]}


class TestRights:
    @pytest.fixture
    def ann(self, streams):
        """A client whose user may use t:a."""
        streams.send_line("ACL SETUSER ann on nopass +@all ~t:a")
        client = streams.client()
        client.send_line("AUTH ann x")
        return client

    def test_what_a_user_may_read_later_is_found(self, streams, ann):
        assert ann.send_line(READ.format("")) is None
        streams.send_line("XADD t:b 1-0 f v")
        assert ann.send_line(READ.format("")) is None
        streams.send_line("ACL SETUSER ann ~t:b")
        assert found(ann.send_line(READ.format(""))) == {"t:b": [1]}

    def test_who_waits_finds_it_with_the_next_that_comes(self, streams, ann):
        ann.send_line(WAIT.format("c", ""))
        streams.send_line("ACL SETUSER ann ~t:b")
        streams.send_line("XADD t:b 1-0 f v")
        assert found(ann.reply()) == {"t:b": [1]}

    def test_who_waits_finds_what_is_there_already(self, streams, ann):
        ann.send_line(WAIT.format("c", ""))
        streams.send_line("XADD t:b 1-0 f v")
        assert ann.reply() == NOTHING
        streams.send_line("ACL SETUSER ann ~t:b")
        assert found(ann.reply()) == {"t:b": [1]}

    @pytest.mark.parametrize("source", ["STREAMS t:b >", "MATCH t:* >"])
    @pytest.mark.parametrize("wait", ["BLOCK 0", ""])
    def test_who_may_not_read_a_stream_is_no_consumer_of_it(self, streams, ann, wait, source):
        streams.send_line("XGROUP CFGSET t:b g ACTIVE 1 TIMEOUT 100")
        streams.send_line("XADD t:b 1-0 f v")
        streams.send_line("XREADGROUP GROUP g c STREAMS t:b >")
        bob = streams.client()
        bob.send_line(f"XREADGROUP GROUP g bob BLOCK 0 {source}")
        for _ in range(10):
            if not ann.waits:
                ann.send_line(READ.format(wait))
            streams.advance(20)
        assert found(bob.reply()) == {"t:b": [1]}

    def test_another_user_with_its_name_is_another(self, streams, ann):
        streams.send_line("XADD t:b 1-0 f v")
        assert ann.send_line(READ.format("")) is None
        streams.send_line("ACL DELUSER ann")
        streams.send_line("ACL SETUSER ann on nopass +@all ~t:b")
        client = streams.client()
        client.send_line("AUTH ann x")
        assert found(client.send_line(READ.format(""))) == {"t:b": [1]}


class TestMemory:
    def test_streams_forget_readers_that_were_dropped(self, streams, names):
        for n in range(pattern_reads.MOST_READERS + 50):
            streams.send_line(f"XREADGROUP GROUP {n} c MATCH t:* >")
        streams.state.blocking.patterns.tick(1)
        assert [len(names().names[key.encode()]) for key in NAMES] == [
            pattern_reads.MOST_READERS
        ] * 3
        streams.send_line("XADD t:a 1-0 f v")
        assert found(streams.send_line(READ.format(""))) == {"t:a": [1]}

    def test_who_waits_keeps_its_readers_beside_any_number_of_others(self, streams):
        waiter = streams.client()
        waiter.send_line(WAIT.format("c", "CLAIM 5000"))
        for n in range(pattern_reads.MOST_READERS + 50):
            streams.send_line(f"XREADGROUP GROUP g c CLAIM {n} MATCH t:* >")
        streams.send_line("XADD t:a 1-0 f v")
        assert found(waiter.reply()) == {"t:a": [1]}

    def test_what_is_fresh_to_nobody_who_waits_is_limited(self, streams, names, monkeypatch):
        monkeypatch.setattr(pattern_reads, "MOST_FRESH", 4)
        readers = names().readers
        for n in range(2):
            streams.send_line(f"XGROUP CREATE t:a {n} 0")
            streams.send_line(f"XREADGROUP GROUP {n} c MATCH t:* >")
        for key in NAMES:
            streams.send_line(f"XADD {key} 1-0 f v")
        assert sum(len(each.fresh) for each in readers.values()) > 4
        streams.state.blocking.patterns.tick(1)
        assert sum(len(each.fresh) for each in readers.values()) <= 4
        assert found(streams.send_line("XREADGROUP GROUP 0 c MATCH t:* >")) == {"t:a": [1]}

    @pytest.mark.parametrize("ends", ["leave", "answered", "rights"])
    def test_readers_are_dropped_when_the_last_of_them_has_gone(self, streams, names, ends):
        streams.send_line("ACL SETUSER ann on nopass +@all ~t:a")
        waiter = streams.client()
        waiter.send_line("AUTH ann x")
        waiter.send_line(WAIT.format("c", "BLOCK 100000000"))
        if ends == "rights":
            streams.send_line("ACL SETUSER ann ~t:b")
            streams.send_line("XADD t:c 1-0 f v")  # it waits with other readers now
            assert waiter.waits
        if ends == "answered":
            streams.send_line("XADD t:a 1-0 f v")
            assert found(waiter.reply()) == {"t:a": [1]}
        if ends == "leave":
            waiter.leave()
        patterns = streams.state.blocking.patterns
        for ms in (1, 1 + pattern_reads.KEPT_MS):
            patterns.tick(ms)
        assert len(names().readers) == (2 if ends == "rights" else 1)  # with the one that asks

    def test_what_was_fresh_takes_no_memory(self, streams, names):
        for n in range(2000):
            streams.send_line(f"XADD t:{n} 1-0 f v")
        streams.send_line("XREADGROUP GROUP nobody c MATCH t:* >")
        assert [sys.getsizeof(readers.fresh) < 1000 for readers in names().readers.values()][
            :1
        ] == [True]

    def test_a_stream_that_was_read_takes_no_place(self, streams, names):
        streams.send_line("XREADGROUP GROUP nobody c MATCH t:* >")
        streams.send_line(READ.format(""))
        for readers in names().readers.values():
            assert len(readers.fresh) == len(readers.resting) == len(readers.keys) == 0

    def test_patterns_of_readers_that_have_gone_are_limited_and_counted(self, streams, names):
        """Once, a hundred sets of them were kept for a minute, of any size."""
        gc.collect()
        before = streams.state.memory.used()
        for n in range(30):
            patterns = " ".join(f"{n}:{at}" + "x" * 1000 for at in range(50))
            streams.send_line(f"XREAD MATCH {patterns} 0")
        streams.state.blocking.patterns.tick(1)
        kept = sum(readers.pattern_bytes for readers in names().readers.values())
        assert 100_000 < kept <= pattern_reads.MOST_PATTERN_BYTES
        assert streams.state.memory.readers == kept - len("none")  # which names() has made since
        kept = streams.state.memory.readers
        assert kept <= streams.state.memory.used() - before < kept + 100_000

    def test_patterns_of_those_who_wait_are_not_limited(self, streams, names):
        for n in range(5):
            patterns = " ".join(f"{n}:{at}" + "x" * 1000 for at in range(50))
            streams.client().send_line(f"XREAD BLOCK 0 MATCH {patterns} $")
        streams.state.blocking.patterns.tick(1)
        kept = sum(readers.pattern_bytes for readers in names().readers.values())
        assert kept > pattern_reads.MOST_PATTERN_BYTES
        assert streams.state.memory.readers == 0  # it is what their clients have sent

    def test_readers_that_were_dropped_keep_no_patterns(self, streams, names):
        waiter = streams.client()
        waiter.send_line(WAIT.format("c", ""))
        readers = waiter.client.waiter.block.readers
        streams.send_line("XADD t:a 1-0 f v")
        names().drop_readers(readers)
        assert readers.patterns == () and readers.name == ((), None, None)

    def test_of_consumers_with_long_names_little_is_kept(self, streams, names):
        """Once, ten thousand names of any size were kept for each set of patterns."""
        for n in range(20):
            streams.send("XREADGROUP", "GROUP", "g", f"{n}" + "c" * 100_000, "MATCH", "t:*", ">")
        streams.state.blocking.patterns.tick(1)
        assert 0 < streams.state.memory.readers < 20 * 1000

    def test_of_many_consumers_little_is_kept(self, streams, names, monkeypatch):
        monkeypatch.setattr(pattern_reads, "MOST_CONSUMER_BYTES", 2000)
        for n in range(3):
            for at in range(9):
                streams.send_line(f"XREADGROUP GROUP g c{at} CLAIM {n} MATCH t:* >")
        patterns = streams.state.blocking.patterns
        patterns.tick(1)
        assert [each.consumer_bytes > 0 for each in names().readers.values()] == [True, False]
        monkeypatch.setattr(pattern_reads, "MOST_CONSUMERS", 4)
        for at in range(100):
            streams.send_line(READ.replace("g c", f"g d{at}").format(""))
        patterns.tick(1)
        assert streams.state.memory.readers < 5000


@pytest.mark.parametrize("size", [1, 1000])
def test_a_consumer_that_reads_is_not_silent_however_long_its_name(streams, size):
    name = "c" * size
    reads = streams.state.blocking.patterns
    streams.send_line(f"XREADGROUP GROUP g {name} MATCH t:* >")
    assert reads.read_ms(0, b"t:a", b"g", name.encode(), streams.now_ms) == streams.now_ms
    assert reads.read_ms(0, b"t:a", b"g", name.encode() + b"d", streams.now_ms) == 0


def test_groups_with_long_names_are_told_apart(streams):
    names = ["g" * 1000 + end for end in "ab"]
    for name in names:
        streams.send_line(f"XGROUP CREATE t:a {name} 0")
        streams.send_line(f"XREADGROUP GROUP {name} c MATCH t:* >")
    streams.send_line("XADD t:a 1-0 f v")
    for name in names:
        reply = streams.send_line(f"XREADGROUP GROUP {name} c MATCH t:* >")
        assert found(reply) == {"t:a": [1]}
        assert streams.send_line(f"XREADGROUP GROUP {name} c MATCH t:* >") is None
