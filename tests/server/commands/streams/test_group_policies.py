"""XGROUP CFGSET: groups that redeliver, give up, limit and pause by themselves."""

from __future__ import annotations

import pytest

from server.commands.streams.groups import dead_letters, stream_redrives
from server.commands.streams.reading import group_reply
from server.config.parameters import Config
from server.parts.persistence.log_commands import CommandPieces
from server.process import build
from storage.errors import Corrupt
from storage.listpack import listpack
from storage.side_data.group_policy import GROUP_POLICY, GroupPolicy
from storage.snapshot.filler import Filler
from storage.snapshot.snapshot_reader import SnapshotReader
from storage.snapshot.snapshot_writer import SnapshotWriter
from storage.stream import stream_node
from tests.server.conftest import SocketlessServer
from tests.worth import COMPILED

READ = "XREADGROUP GROUP g {} COUNT 10 STREAMS s >"
MADE = [  # what the fixture has logged before
    *[[b"XADD", b"s", b"%d-0" % ms, b"job", b"%d" % ms] for ms in (1, 2, 3)],
    [b"XGROUP", b"CREATE", b"s", b"g", b"0"],
]
WAIT = "XREADGROUP GROUP g {} COUNT 10 BLOCK 0 STREAMS s >"


@pytest.fixture
def queue(server):
    """The stream s has the entries 1-0, 2-0 and 3-0, and the group g."""
    for ms in (1, 2, 3):
        server.send("XADD", "s", f"{ms}-0", "job", ms)
    server.send_line("XGROUP CREATE s g 0")
    server.logged()
    return server


def given(reply):
    """The ms of the ids of the entries in a reply of one stream."""
    return [] if reply is None else [int(row[0].split(b"-")[0]) for row in reply[0][1]]


def pending(server):
    """For each ms its consumer, and how often it was delivered."""
    rows = server.send_line("XPENDING s g - + 100")
    return {int(row[0].split(b"-")[0]): (row[1], row[3]) for row in rows}


def entries(server, key):
    """The fields of each entry."""
    rows = [row[1] for row in server.send("XRANGE", key, "-", "+")]
    return [dict(zip(row[::2], row[1::2], strict=True)) for row in rows]


def policy_of(server, key=b"s"):
    """The policy of the group g."""
    return server.state.databases[0].side[key].get(GROUP_POLICY, b"g")


class TestSettings:
    def test_they_are_set_and_shown(self, queue):
        line = "XGROUP CFGSET s g visibility 30000 MAXDELIVERIES 5 DEADLETTER dead MKSTREAM"
        assert queue.send_line(line) == b"OK"
        assert queue.send_line("XGROUP CFGSET s g MAXPENDING 100") == b"OK"
        shown = queue.send_line("XGROUP CFGGET s g")
        assert dict(zip(shown[::2], shown[1::2], strict=True)) == {
            b"visibility": 30000, b"maxdeliveries": 5, b"maxpending": 100,
            b"maxpendingperconsumer": 0, b"active": 0, b"timeout": 0, b"fence": 0,
            b"consumertimeout": 0, b"maxpendingpervalue": 0, b"orderby": b"", b"released": b"no",
            b"backoff": b"0", b"deadletter": b"dead", b"activeconsumer": b"", b"paused": b"no",
        }  # fmt: skip
        info = queue.send_line("XINFO GROUPS s")[0]
        assert info[info.index(b"policy") + 1] == [
            b"VISIBILITY", b"30000", b"MAXDELIVERIES", b"5", b"MAXPENDING", b"100",
            b"DEADLETTER", b"dead",
        ]  # fmt: skip
        assert queue.send_line("TYPE dead") == "stream" or queue.send_line("XLEN dead") == 0
        assert queue.logged() == [line.encode(), b"XGROUP CFGSET s g MAXPENDING 100"]

    def test_defaults_are_no_policy(self, queue):
        queue.send_line("XGROUP CFGSET s g VISIBILITY 5 MAXPENDING 3")
        queue.send_line("XGROUP CFGSET s g VISIBILITY 0 MAXPENDING 0")
        assert not queue.state.databases[0].side
        assert b"policy" not in queue.send_line("XINFO GROUPS s")[0]

    @pytest.mark.parametrize(
        ("words", "error"),
        [
            ("s g VISIBILITY", "-ERR wrong number of arguments for 'xgroup|cfgset' command"),
            ("s g VISIBILITY x", "-ERR VISIBILITY takes a number from 0 to 9007199254740992"),
            ("s g VISIBILITY -1", "-ERR VISIBILITY takes a number from 0 to 9007199254740992"),
            ("s g MAXPENDING 9007199254740993",
             "-ERR MAXPENDING takes a number from 0 to 9007199254740992"),
            ("s g BACKOFF 5 -1", "-ERR syntax error"),
            ("s g BACKOFF x", "-ERR BACKOFF takes 1 to 32 numbers from 0 to 9007199254740992"),
            ("s g BACKOFF" + " 1" * 33,
             "-ERR BACKOFF takes 1 to 32 numbers from 0 to 9007199254740992"),
            ("s g ACTIVE 2", "-ERR ACTIVE takes 0 (all consumers) or 1"),
            ("s g FENCE 7", "-ERR syntax error"),
            ("s g ACTIVECONSUMER ann", "-ERR syntax error"),
            ("s g PAUSED maybe", "-ERR PAUSED takes yes or no"),
            ("s g NOSUCH 1", "-ERR syntax error"),
            ("s g VISIBILITY 1 MAXPENDING", "-ERR syntax error"),
            ("s h VISIBILITY 1", "-NOGROUP No such key 's' or consumer group 'h'"),
            ("t g VISIBILITY 1", "-NOGROUP No such key 't' or consumer group 'g'"),
            ("s g MAXDELIVERIES 1",
             "-ERR MAXDELIVERIES needs DEADLETTER: entries that are dead must go somewhere"),
            ("s g DEADLETTER dead MKSTREAM DEADLETTER other", "-ERR syntax error"),
            ("s g DEADLETTER mkstream",
             "-ERR the DEADLETTER stream does not exist: MKSTREAM makes it"),
            ("s g DEADLETTER s", "-ERR DEADLETTER would lead dead entries back to this stream"),
            ("s g DEADLETTER nosuch",
             "-ERR the DEADLETTER stream does not exist: MKSTREAM makes it"),
            ("s g DEADLETTER text", "-WRONGTYPE Operation against a key holding the wrong kind of"
                                    " value"),
        ],
    )  # fmt: skip
    def test_what_is_refused_changes_nothing(self, queue, words, error):
        queue.send_line("SET text x")
        queue.logged()
        assert queue.send_line(f"XGROUP CFGSET {words}") == error
        assert not queue.state.databases[0].side
        assert queue.logged() == []

    def test_dead_letters_do_not_go_round_in_a_circle(self, queue):
        queue.send_line("XGROUP CFGSET s g DEADLETTER dead MKSTREAM")
        queue.send_line("XGROUP CREATE dead d 0")
        assert queue.send_line("XGROUP CFGSET dead d DEADLETTER dead2 MKSTREAM") == b"OK"
        queue.send_line("XGROUP CREATE dead2 e 0")
        for target in ("s", "dead", "dead2"):
            answer = queue.send_line(f"XGROUP CFGSET dead2 e DEADLETTER {target}")
            assert answer.startswith("-ERR DEADLETTER would lead")

    def test_who_sets_it_may_write_the_dead_letters(self, queue):
        queue.send_line("ACL SETUSER u on nopass +@all ~s")
        user = queue.client()
        user.send("AUTH", "u", "x")
        assert user.send_line("XGROUP CFGSET s g DEADLETTER dead MKSTREAM").startswith("-NOPERM")
        assert user.send_line("XGROUP CFGSET s g VISIBILITY 5") == b"OK"

    @pytest.mark.parametrize(
        "words",
        [
            "PAUSED no MKSTREAM",  # they were named before, by somebody else
            "DEADLETTER dead MKSTREAM ORDERBY deadletter maxpending 5",  # a field of that name
        ],
    )
    def test_nobody_else_makes_or_names_them_by_other_words(self, queue, words):
        if "DEADLETTER" not in words:
            queue.send_line("XGROUP CFGSET s g DEADLETTER dead MKSTREAM")
            queue.send_line("DEL dead")
        queue.send_line("ACL SETUSER u on nopass +@all ~s ~m*")
        user = queue.client()
        user.send("AUTH", "u", "x")
        line = f"XGROUP CFGSET s g {words}"
        assert user.send_line(line) == "-NOPERM No permissions to access a key"
        assert queue.send_line("EXISTS dead") == 0
        queue.send_line("ACL SETUSER u ~dead")
        assert user.send_line(line) == b"OK"
        assert queue.send_line("EXISTS dead") == 1

    @pytest.mark.parametrize("line", ["COPY s s2", "RESTORE s2 0 {}"])
    def test_who_makes_a_copy_may_write_the_dead_letters(self, queue, line):
        """Else a crafted payload of RESTORE would have the server write any stream."""
        queue.send_line("XGROUP CFGSET s g DEADLETTER dead MKSTREAM")
        payload = queue.send_line("DUMP s")
        words = [payload if word == "{}" else word for word in line.split()]
        queue.send_line("ACL SETUSER u on nopass +@all ~s ~s2")
        user = queue.client()
        user.send("AUTH", "u", "x")
        assert user.send(*words).startswith("-NOPERM")
        assert queue.send_line("EXISTS s2") == 0
        queue.send_line("ACL SETUSER u ~dead")
        assert user.send(*words) in (1, b"OK")

    def test_beyond_maxmemory_what_is_dead_stays_pending(self, queue):
        """Once, XGROUP SETID and XNACK FATAL by turns filled the memory that others need."""
        queue.send_line("XGROUP CFGSET s g DEADLETTER dead MKSTREAM")
        queue.send_line("XADD s 9-9 f v")
        queue.send_line("XREADGROUP GROUP g c STREAMS s >")
        pending = queue.send_line("XPENDING s g")[0]
        queue.send_line("CONFIG SET maxmemory 1")
        queue.send_line("XNACK s g FATAL IDS 1 9-9")
        assert queue.send_line("XLEN dead") == 0
        assert queue.send_line("XPENDING s g")[0] == pending
        queue.send_line("CONFIG SET maxmemory 0")
        queue.send_line("XNACK s g FATAL IDS 1 9-9")
        assert queue.send_line("XLEN dead") == 1
        assert queue.send_line("XPENDING s g")[0] == pending - 1

    def test_it_goes_with_its_group(self, queue):
        queue.send_line("XGROUP CFGSET s g VISIBILITY 5")
        queue.send_line("XGROUP DESTROY s g")
        queue.send_line("XGROUP CREATE s g 0")
        assert queue.send_line("XGROUP CFGGET s g")[1] == 0

    def test_bytes_of_another_policy_are_refused(self):
        policy = GroupPolicy()
        policy.set(b"VISIBILITY", b"7")
        dumped = GROUP_POLICY.dump(policy)
        assert GROUP_POLICY.load(dumped).words() == [b"VISIBILITY", b"7"]
        for bad in (dumped[:-1], dumped + b"x", b"\x01\x01a", b"\x02\x01a\x01b", b""):
            with pytest.raises(Corrupt):
                GROUP_POLICY.load(bad)


class TestVisibility:
    @pytest.fixture
    def queue(self, queue):
        queue.send_line("XGROUP CFGSET s g VISIBILITY 1000")
        queue.logged()
        return queue

    def test_what_is_not_acknowledged_in_time_is_anyone_s(self, queue):
        assert given(queue.send_line(READ.format("ann"))) == [1, 2, 3]
        queue.send_line("XACK s g 2")
        queue.advance(999)
        assert queue.send_line(READ.format("bob")) is None
        queue.advance(1)
        again = queue.send_line(READ.format("bob"))
        assert again == [[b"s", [[b"1-0", [b"job", b"1"]], [b"3-0", [b"job", b"3"]]]]]
        assert pending(queue) == {1: (b"bob", 2), 3: (b"bob", 2)}

    def test_new_entries_follow_those_that_come_again(self, queue):
        queue.send_line("XREADGROUP GROUP g ann COUNT 1 STREAMS s >")
        queue.advance(1000)
        assert given(queue.send_line("XREADGROUP GROUP g bob COUNT 2 STREAMS s >")) == [1, 2]

    def test_a_reader_that_waits_is_woken_in_time(self, queue):
        queue.send_line(READ.format("ann"))
        waiter = queue.client()
        waiter.send_line(WAIT.format("bob"))
        queue.advance(999)
        assert waiter.waits
        queue.advance(1)
        assert given(waiter.reply()) == [1, 2, 3]

    def test_it_is_set_while_somebody_waits(self, queue):
        queue.send_line("XGROUP CFGSET s g VISIBILITY 0")
        queue.send_line(READ.format("ann"))
        waiter = queue.client()
        waiter.send_line(WAIT.format("bob"))
        queue.advance(5000)
        assert waiter.waits
        queue.send_line("XGROUP CFGSET s g VISIBILITY 6000")
        queue.advance(1000)
        assert given(waiter.reply()) == [1, 2, 3]

    def test_claim_says_more_and_its_time_counts(self, queue):
        queue.send_line(READ.format("ann"))
        queue.advance(500)
        told = queue.send_line("XREADGROUP GROUP g bob CLAIM 400 STREAMS s >")
        assert told[0][1][0] == [b"1-0", [b"job", b"1"], 500, 1]

    def test_the_history_is_what_it_was(self, queue):
        queue.send_line(READ.format("ann"))
        queue.advance(5000)
        assert given(queue.send_line("XREADGROUP GROUP g ann STREAMS s 0")) == [1, 2, 3]
        assert queue.send_line("XREADGROUP GROUP g bob STREAMS s 0") == [[b"s", []]]

    def test_it_is_logged_in_words_that_redis_knows(self, queue):
        queue.send_line(READ.format("ann"))
        queue.advance(1000)
        queue.logged()
        queue.send_line(READ.format("bob"))
        assert {line.split()[0] for line in queue.logged()} == {b"XGROUP", b"XCLAIM"}


class TestDeadLetters:
    @pytest.fixture
    def queue(self, queue):
        queue.send_line(
            "XGROUP CFGSET s g VISIBILITY 1000 MAXDELIVERIES 2 DEADLETTER dead MKSTREAM"
        )
        queue.logged()
        return queue

    def delivered_twice(self, queue):
        queue.send_line(READ.format("ann"))
        queue.advance(1000)
        queue.send_line(READ.format("bob"))
        queue.advance(1000)
        queue.logged()

    def check_dead(self, queue, reason=b"deliveries"):
        """1-0, 2-0 and 3-0 are dead letters, and no longer pending."""
        assert pending(queue) == {}
        dead = entries(queue, "dead")
        assert [letter[b"job"] for letter in dead] == [b"1", b"2", b"3"]
        assert dead[0] == {
            b"job": b"1", b"dead-stream": b"s", b"dead-id": b"1-0", b"dead-group": b"g",
            b"dead-consumer": b"bob", b"dead-deliveries": b"2",
            b"dead-first-ms": b"%d" % (queue.now_ms - 2000),
            b"dead-delivered-ms": b"%d" % (queue.now_ms - 1000), b"dead-reason": reason,
        }  # fmt: skip

    @pytest.mark.skipif(COMPILED, reason="the limit of a listpack is a C number")
    def test_a_letter_that_is_too_large_makes_no_stream(self, queue, monkeypatch):
        queue.send_line("XREADGROUP GROUP g ann COUNT 1 STREAMS s >")
        queue.send_line("DEL dead")
        monkeypatch.setattr(stream_node, "_LIMIT", 100)
        queue.send_line("XNACK s g FATAL IDS 1 1")
        assert queue.send_line("EXISTS dead") == 0
        assert queue.send_line("XLEN s") == 3

    def test_after_the_last_delivery_an_entry_moves(self, queue):
        self.delivered_twice(queue)
        assert queue.send_line(READ.format("ann")) is None
        self.check_dead(queue)
        (unit,) = [unit for unit in queue.transactions() if len(unit) > 1]
        assert [line.split()[0] for line in unit if b"CREATECONSUMER" not in line] == [
            b"XADD", b"XACK",
        ] * 3  # fmt: skip

    @pytest.mark.parametrize(
        "line",
        ["XREADGROUP GROUP g ann CLAIM 10 STREAMS s >", "XCLAIM s g ann 10 1 2 3",
         "XAUTOCLAIM s g ann 10 0"],
    )  # fmt: skip
    def test_it_does_so_whoever_claims_it(self, queue, line):
        self.delivered_twice(queue)
        queue.send_line(line)
        self.check_dead(queue)

    @pytest.mark.parametrize("line", ["XCLAIM s g ann 10 1 2 3 JUSTID",
                                      "XCLAIM s g ann 10 1 2 3 RETRYCOUNT 1"])  # fmt: skip
    def test_what_is_no_delivery_is_none_too_many(self, queue, line):
        self.delivered_twice(queue)
        assert len(queue.send_line(line)) == 3
        assert queue.send_line("XLEN dead") == 0

    def test_what_force_makes_pending_moves_or_is_not_pending(self, queue):
        """Else it would be pending without an owner: an RDB with that could not be loaded."""
        queue.send_line("XGROUP CFGSET s g MAXDELIVERIES 1")
        queue.send_line("XGROUP CREATECONSUMER s g ann")
        queue.send_line("DEL dead")
        queue.send_line("SET dead x")
        queue.logged()
        assert queue.send_line("XCLAIM s g ann 0 1 2 2 FORCE") == []
        assert pending(queue) == {}
        assert queue.logged() == []
        assert queue.send("RESTORE", "s2", "0", queue.send_line("DUMP s")) == b"OK"
        queue.send_line("DEL dead")
        assert queue.send_line("XCLAIM s g ann 0 1 2 2 FORCE") == []
        assert pending(queue) == {}
        assert [letter[b"job"] for letter in entries(queue, "dead")] == [b"1", b"2"]

    @pytest.mark.parametrize("order", ["", "job"])
    def test_many_that_cannot_move_hold_up_nothing_else(self, queue, order):
        queue.send("XGROUP", "CFGSET", "s", "g", "ORDERBY", order)
        queue.send_line("DEL dead")
        queue.send_line("SET dead x")
        for ms in range(4, 500):
            queue.send("XADD", "s", f"{ms}-0", "job", ms)
        queue.send_line("XREADGROUP GROUP g ann STREAMS s >")
        ids = [f"{ms}-0" for ms in range(1, 500)]
        queue.send("XCLAIM", "s", "g", "ann", 0, *ids, "RETRYCOUNT", 2, "JUSTID")
        queue.advance(1)
        queue.send_line("XADD s 999-0 job 999")
        assert given(queue.send_line(READ.format("bob"))) == [999]
        queue.advance(1000)
        assert given(queue.send_line(READ.format("bob"))) == [999]
        queue.client().send_line(WAIT.format("cem"))
        passed_ms = 1 + 1000  # since the start; and it is not woken at once, again and again
        assert queue.state.blocking.next_deadline_ms == passed_ms + 1000
        queue.send_line("DEL dead")
        for _ in range(3):
            queue.send_line(READ.format("bob"))
        assert queue.send_line("XLEN dead") == 499

    def test_a_new_entry_is_delivered_with_those_that_die(self, queue):
        self.delivered_twice(queue)
        queue.send_line("XADD s 9-0 job 9")
        assert given(queue.send_line(READ.format("ann"))) == [9]
        assert queue.send_line("XLEN dead") == 3

    def test_a_reader_that_waits_waits_on(self, queue):
        queue.send_line(READ.format("ann"))
        queue.advance(1000)
        queue.send_line(READ.format("bob"))
        waiter = queue.client()
        waiter.send_line(WAIT.format("cem"))
        queue.advance(1000)
        assert waiter.waits
        assert queue.send_line("XLEN dead") == 3
        queue.send_line("XADD s 9-0 job 9")
        assert given(waiter.reply()) == [9]

    def test_who_waits_for_dead_letters_gets_them(self, queue):
        waiter = queue.client()
        waiter.send_line("XREAD BLOCK 0 STREAMS dead $")
        self.delivered_twice(queue)
        queue.send_line(READ.format("ann"))
        assert len(waiter.reply()[0][1]) >= 1

    @pytest.mark.parametrize("line", ["XCLAIM s g ann 0 1 RETRYCOUNT 1",
                                      "XNACK s g FAIL IDS 1 1 RETRYCOUNT 1"])  # fmt: skip
    def test_a_count_that_a_client_sets_counts_also_a_smaller_one(self, queue, line):
        for _ in range(5):
            queue.send_line("XCLAIM s g ann 0 1 FORCE")
            assert queue.send_line(line)
            assert pending(queue)[1][1] == 1
        assert queue.send_line("XLEN dead") == 0
        queue.send_line("XCLAIM s g ann 0 1")
        assert queue.send_line("XCLAIM s g ann 0 1") == []
        assert queue.send_line("XLEN dead") == 1

    def test_xnack_fatal_is_the_end_at_once(self, queue):
        queue.send_line(READ.format("ann"))
        assert queue.send_line("XNACK s g FATAL IDS 2 1 2") == 2
        assert list(pending(queue)) == [3]
        assert [letter[b"dead-reason"] for letter in entries(queue, "dead")] == [b"fatal"] * 2

    def test_without_a_dead_letter_their_stream_is_not_made(self, queue):
        self.delivered_twice(queue)
        queue.send_line("DEL dead")
        queue.send_line("XDEL s 1 2 3")
        queue.send_line("XADD s 4-0 job 4")
        assert given(queue.send_line(READ.format("ann"))) == [4]
        assert list(pending(queue)) == [4]
        assert queue.send_line("EXISTS dead") == 0

    def test_what_the_same_call_delivers_anew_is_not_dead(self, queue):
        queue.send_line("XGROUP CFGSET s g MAXDELIVERIES 1 VISIBILITY 10 DEADLETTER dead MKSTREAM")
        assert given(queue.send_line(READ.format("ann"))) == [1, 2, 3]
        queue.send_line("XGROUP SETID s g 1")
        queue.advance(10)
        assert given(queue.send_line(READ.format("bob"))) == [2, 3]
        assert pending(queue) == {2: (b"bob", 1), 3: (b"bob", 1)}
        assert [letter[b"dead-id"] for letter in entries(queue, "dead")] == [b"1-0"]

    def test_what_was_deleted_is_acknowledged_even_if_nothing_else_is_due(self, queue):
        queue.send_line(READ.format("ann"))
        queue.advance(1000)
        queue.send_line(READ.format("bob"))
        queue.send_line("XDEL s 1-0 2-0 3-0")
        queue.advance(1000)
        assert queue.send_line(READ.format("ann")) is None
        assert (pending(queue), queue.send_line("XLEN dead")) == ({}, 0)

    def test_an_entry_that_was_deleted_is_no_dead_letter(self, queue):
        self.delivered_twice(queue)
        queue.send_line("XDEL s 2")
        queue.send_line("XAUTOCLAIM s g ann 10 0")
        assert [letter[b"job"] for letter in entries(queue, "dead")] == [b"1", b"3"]

    def test_nothing_is_lost_where_nothing_can_be_added(self, queue):
        self.delivered_twice(queue)
        queue.send_line("SET dead x")
        assert queue.send_line(READ.format("ann")) is None
        assert list(pending(queue)) == [1, 2, 3]
        queue.send_line("DEL dead")
        queue.send_line(READ.format("ann"))
        self.check_dead(queue)

    def test_nobody_is_woken_again_and_again_by_what_cannot_move(self, queue):
        self.delivered_twice(queue)
        queue.send_line("SET dead x")
        waiter = queue.client()
        waiter.send_line(WAIT.format("cem"))
        assert waiter.client.waiter.block.wake_ms == 1000
        queue.send_line("XADD s 9-0 job 9")
        assert given(waiter.reply()) == [9]

    def test_an_entry_that_was_claimed_is_not_given_as_a_new_one_too(self, queue):
        """Once, after XGROUP SETID back, one reply had it twice, and its count began anew."""
        queue.send_line("XGROUP CFGSET s g VISIBILITY 100")
        assert given(queue.send_line(READ.format("ann"))) == [1, 2, 3]
        queue.send_line("XGROUP SETID s g 1-0")
        queue.advance(1000)
        assert given(queue.send_line(READ.format("bob"))) == [1, 2, 3]
        assert [row[3] for row in queue.send_line("XPENDING s g - + 9")] == [2, 2, 2]
        assert queue.send_line("XINFO GROUPS s")[0][7] == b"3-0"

    def test_what_another_had_comes_to_who_has_room_for_it(self, queue):
        """Once, one consumer was given all of it, whatever MAXPENDINGPERCONSUMER said."""
        queue.send_line("XGROUP CFGSET s g VISIBILITY 100 MAXDELIVERIES 0")
        assert given(queue.send_line(READ.format("ann"))) == [1, 2, 3]
        queue.send_line("XGROUP CFGSET s g MAXPENDINGPERCONSUMER 1")
        waiter = queue.client()
        waiter.send_line(WAIT.format("cem"))
        queue.advance(100)
        assert given(waiter.reply()) == [1]
        assert given(queue.send_line(READ.format("bob"))) == [2]
        assert given(queue.send_line(READ.format("bob"))) == []
        waiter.send_line(WAIT.format("bob"))
        assert waiter.waits
        queue.send_line("XACK s g 2-0")
        assert given(waiter.reply()) == [3]

    def test_a_stream_without_a_name_is_in_no_circle(self, queue):
        """Once, groups without dead letters were thought to send theirs there."""
        queue.send("XGROUP", "CREATE", "", "g", "0", "MKSTREAM")
        queue.send_line("XGROUP CREATE other g 0 MKSTREAM")
        queue.send_line("XGROUP CFGSET other g VISIBILITY 5")
        words = ("XGROUP", "CFGSET", "", "g", "MAXDELIVERIES", "1", "DEADLETTER", "other")
        assert queue.send(*words) == b"OK"

    def test_xautoclaim_leaves_what_is_held(self, queue):
        """Once, with a min-idle-time of 0 it took that, too; XCLAIM may, by the id."""
        queue.send_line("XGROUP CFGSET s g BACKOFF 60000")
        assert given(queue.send_line(READ.format("ann"))) == [1, 2, 3]
        queue.send_line("XNACK s g FAIL IDS 1 1-0")
        queue.send_line("XNACK s g SILENT IDS 1 2-0")
        assert queue.send_line("XAUTOCLAIM s g bob 0 0 JUSTID")[1] == [b"2-0", b"3-0"]
        assert queue.send_line("XCLAIM s g bob 0 1-0 JUSTID") == [b"1-0"]

    def test_who_waits_sees_within_a_second_that_they_can_move_again(self, queue):
        """Once, nobody did: what became of the dead letters' stream is no event of theirs."""
        queue.send_line("XADD s 8-0 job 8")
        self.delivered_twice(queue)
        queue.send_line("SET dead x")
        waiter = queue.client()
        waiter.send_line(WAIT.format("cem"))
        queue.send_line("DEL dead")
        queue.send_line("XADD dead 1-0 f v")
        queue.advance(1000)
        assert queue.send_line("XLEN dead") > 1

    def test_what_does_not_fit_any_more_stays_pending(self, queue):
        self.delivered_twice(queue)
        queue.send_line(f"XSETID dead {2**64 - 1}-{2**64 - 3}")
        queue.send_line(READ.format("ann"))
        assert queue.send_line("XLEN dead") == 2
        assert list(pending(queue)) == [3]

    def test_xredrive_sends_them_back(self, queue):
        self.delivered_twice(queue)
        queue.send_line(READ.format("ann"))
        queue.send_line("XADD dead * no letter")
        last = queue.send("XRANGE", "dead", "-", "+")[2][0]
        queue.logged()
        assert queue.send("XREDRIVE", "dead", last, last, "9-9") == 1
        assert queue.send_line("XREDRIVE dead COUNT 1") == 1
        assert queue.send_line("XREDRIVE dead") == 1
        assert queue.send_line("XREDRIVE dead") == 0
        assert [entry[b"job"] for entry in entries(queue, "s")[3:]] == [b"3", b"1", b"2"]
        assert entries(queue, "dead") == [{b"no": b"letter"}]
        assert [line.split()[0] for line in queue.logged()] == [b"XADD", b"XDEL"] * 3

    def test_a_forged_dead_letter_stays_where_it_is(self, queue):
        """Who may add entries to the dead letters does not choose where XREDRIVE sends them."""
        forged = (
            "dead-stream {} dead-id 1-0 dead-group {} dead-consumer c dead-deliveries 1"
            " dead-delivered-ms 1 dead-reason fatal"
        )
        queue.send_line("XGROUP CREATE other g 0 MKSTREAM")
        queue.send_line("SET text x")
        for stream, group in (("other", "g"), ("s", "h"), ("nosuch", "g"), ("text", "g")):
            queue.send_line("XADD dead * job evil " + forged.format(stream, group))
        assert queue.send_line("XREDRIVE dead") == 0
        assert queue.send_line("XLEN dead") == 4
        assert queue.send_line("EXISTS nosuch") == 0

    def test_dead_letters_that_stay_hold_up_no_others(self, queue):
        """Nor does one whose origin the user may not write, as it would not go there."""
        letter = (
            "dead-id 1-0 dead-group g dead-consumer c dead-deliveries 1 dead-delivered-ms 1"
            " dead-reason fatal"
        )
        for n in range(5):
            queue.send_line(f"XADD dead 1-{n + 1} job {n} dead-stream deleted {letter}")
        self.delivered_twice(queue)
        queue.send_line(READ.format("ann"))
        queue.send_line("ACL SETUSER u on nopass +@all ~dead ~s")
        user = queue.client()
        user.send("AUTH", "u", "x")
        assert user.send_line("XREDRIVE dead COUNT 2") == 2
        assert user.send_line("XREDRIVE dead") == 1
        assert [entry[b"job"] for entry in entries(queue, "s")[3:]] == [b"1", b"2", b"3"]
        assert queue.send_line("XLEN dead") == 5

    def test_xredrive_passes_over_many_but_does_not_look_at_all(self, queue, monkeypatch):
        monkeypatch.setattr(stream_redrives, "MOST_THAT_STAY", 3)
        for n in range(4):
            queue.send_line(f"XADD dead 1-{n + 1} no letter")
        self.delivered_twice(queue)
        queue.send_line(READ.format("ann"))
        assert queue.send_line("XREDRIVE dead COUNT 1") == 0
        assert queue.send_line("XREDRIVE dead COUNT 2") == 1

    def test_dead_letters_that_would_come_back_stay_pending(self, queue):
        self.delivered_twice(queue)
        queue.send_line("RENAME s dead")
        assert queue.send_line("XREADGROUP GROUP g ann COUNT 10 STREAMS dead >") is None
        assert queue.send_line("XLEN dead") == 3
        assert queue.send_line("XPENDING dead g")[0] == 3

    def test_nor_do_they_go_round_in_a_circle_that_came_later(self, queue):
        """Once, such letters grew by eight fields each time, and both streams without end."""
        queue.send_line("XGROUP CREATE c g 0 MKSTREAM")
        queue.send_line("XGROUP CFGSET c g VISIBILITY 1 MAXDELIVERIES 1 DEADLETTER s")
        self.delivered_twice(queue)
        queue.send_line("RENAME c dead")
        for _ in range(3):
            queue.send_line("XREADGROUP GROUP g ann STREAMS s dead > >")
            queue.advance(1000)
        assert [queue.send("XLEN", key) for key in ("s", "dead")] == [3, 0]
        assert queue.send_line("XPENDING s g")[0] == 3
        queue.send("XGROUP", "CFGSET", "dead", "g", "MAXDELIVERIES", "0", "DEADLETTER", "")
        queue.send_line(READ.format("ann"))
        assert queue.send_line("XLEN dead") == 3

    def test_the_history_delivers_no_oftener_than_that(self, queue):
        """Once, who read what it had again and again kept it, and its lease, for ever."""
        history = "XREADGROUP GROUP g ann STREAMS s 0"
        queue.send_line(READ.format("ann"))
        assert given(queue.send_line(history)) == [1, 2, 3]
        assert queue.send_line(history) == [[b"s", []]]
        letters = entries(queue, "dead")
        assert [letter[b"dead-deliveries"] for letter in letters] == [b"2"] * 3
        assert [letter[b"dead-reason"] for letter in letters] == [b"deliveries"] * 3
        assert pending(queue) == {}

    def test_the_history_moves_some_of_many_and_goes_on_in_the_next_call(self, queue, monkeypatch):
        if not COMPILED:
            monkeypatch.setattr(group_reply, "_MOST_DEAD", 2)
        queue.send_line(READ.format("ann"))
        queue.send_line("XREADGROUP GROUP g ann NOFIELDS STREAMS s 0")
        assert queue.send_line("XREADGROUP GROUP g ann STREAMS s 0") == [[b"s", []]]
        assert queue.send_line("XLEN dead") == (3 if COMPILED else 2)
        queue.send_line("XREADGROUP GROUP g ann STREAMS s 0")
        assert queue.send_line("XLEN dead") == 3

    def test_many_that_cannot_move_hide_nothing_of_the_history(self, queue):
        for ms in range(4, 300):
            queue.send_line(f"XADD s {ms}-0 job {ms}")
        queue.send_line("XREADGROUP GROUP g ann STREAMS s >")
        ids = " ".join(f"{ms}-0" for ms in range(1, 290))
        queue.send_line(f"XCLAIM s g ann 0 {ids} RETRYCOUNT 2")
        queue.send_line("SET dead text")
        history = queue.send_line("XREADGROUP GROUP g ann STREAMS s 0")
        assert given(history) == [*range(290, 300)]

    def test_in_the_history_too_what_cannot_move_stays_and_is_not_delivered(self, queue):
        history = "XREADGROUP GROUP g ann STREAMS s 0"
        queue.send_line("SET dead text")
        queue.send_line("XREADGROUP GROUP g ann STREAMS s >")
        queue.send_line("XCLAIM s g ann 0 1-0 FORCE RETRYCOUNT 2")
        assert given(queue.send_line(history)) == [2, 3]
        assert sorted(pending(queue)) == [1, 2, 3]
        queue.send_line("DEL dead")
        assert given(queue.send_line("XREADGROUP GROUP g ann WHERE job 1 2 STREAMS s 0")) == []
        assert queue.send_line("XLEN dead") == 1

    def test_xredrive_asks_for_the_right_to_write_the_origin(self, queue):
        self.delivered_twice(queue)
        queue.send_line(READ.format("ann"))
        queue.send_line("ACL SETUSER u on nopass +@all ~dead")
        user = queue.client()
        user.send("AUTH", "u", "x")
        assert user.send_line("XREDRIVE dead").startswith("-NOPERM")
        assert queue.send_line("XLEN dead") == 3


def test_what_was_passed_before_there_was_a_policy_leaves_the_group_by_it(queue):
    queue.send_line(READ.format("ann"))
    queue.send_line("XTRIM s MAXLEN 1")
    queue.advance(1000)
    queue.send_line("XREADGROUP GROUP g bob CLAIM 5 STREAMS s >")
    assert list(pending(queue)) == [1, 2, 3]
    queue.send_line("XGROUP CFGSET s g VISIBILITY 1000")
    queue.send_line(READ.format("ann"))
    assert list(pending(queue)) == [3]


class TestTooLarge:
    """A dead letter has some fields more than its entry, and an entry has at most 1 GiB."""

    @pytest.fixture
    def queue(self, queue):
        queue.send_line(
            "XGROUP CFGSET s g VISIBILITY 1000 MAXDELIVERIES 1 DEADLETTER dead MKSTREAM"
        )
        return queue

    @pytest.mark.parametrize("line", [
        READ.format("bob"), "XNACK s g FATAL IDS 3 1-0 2-0 3-0", "XAUTOCLAIM s g bob 0 0",
    ])  # fmt: skip
    def test_without_the_fields_of_its_origin_it_moves(self, queue, monkeypatch, line):
        """Once, the group answered each request with an error from then on."""
        monkeypatch.setattr(dead_letters, "MAX_ENTRY_SIZE", 200)
        queue.send_line(READ.format("ann"))
        queue.advance(1000)
        assert not str(queue.send_line(line)).startswith("-")
        assert pending(queue) == {}
        assert entries(queue, "dead") == [{b"job": b"%d" % ms} for ms in (1, 2, 3)]
        assert queue.send_line("XREDRIVE dead") == 0

    def test_the_others_have_them(self, queue, monkeypatch):
        monkeypatch.setattr(dead_letters, "MAX_ENTRY_SIZE", 1000)
        queue.send("XADD", "s", "4-0", "job", "x" * 800)
        queue.send_line(READ.format("ann"))
        queue.advance(1000)
        queue.send_line(READ.format("bob"))
        letters = entries(queue, "dead")
        assert [len(letter) for letter in letters] == [9, 9, 9, 1]

    def test_one_that_cannot_be_added_at_all_stays_pending(self, queue, monkeypatch):
        monkeypatch.setattr(dead_letters, "MAX_ENTRY_SIZE", 1)
        queue.send_line(READ.format("ann"))
        queue.advance(1000)
        queue.send_line("XADD s 4-0 job 4")
        assert given(queue.send_line(READ.format("bob"))) == [4]
        assert sorted(pending(queue)) == [1, 2, 3, 4]
        assert queue.send_line("XLEN dead") == 0

    @pytest.mark.skipif(build.compiled(), reason="the limit is a C number")
    def test_nor_does_a_node_of_dead_letters_become_too_large(self, queue, monkeypatch):
        queue.send_line("CONFIG SET stream-node-max-bytes 0")
        queue.send_line("XADD dead 1-0 a b")
        queue.send_line(READ.format("ann"))
        queue.advance(1000)
        monkeypatch.setattr(listpack, "LIMIT", 100)
        assert queue.send_line(READ.format("bob")) is None
        assert sorted(pending(queue)) == [1, 2, 3]
        monkeypatch.undo()
        queue.send_line(READ.format("bob"))
        assert queue.send_line("XLEN dead") == 4


class TestFirstDeliveries:
    """A dead letter says when its entry was delivered first, whatever has happened since."""

    @pytest.fixture
    def queue(self, queue):
        queue.send_line(
            "XGROUP CFGSET s g VISIBILITY 1000 MAXDELIVERIES 3 DEADLETTER dead MKSTREAM"
        )
        queue.send_line(READ.format("ann"))
        queue.first = queue.now_ms
        queue.advance(1000)
        return queue

    def firsts(self, server, key="dead"):
        letters = entries(server, key)
        return {int(letter[b"job"]): int(letter[b"dead-first-ms"]) for letter in letters}

    def bury(self, server, key="s"):
        """Deliver what is pending until it is dead."""
        for _ in range(4):
            server.advance(100_000)
            server.send_line(f"XREADGROUP GROUP g cem COUNT 10 STREAMS {key} >")

    @pytest.mark.parametrize(
        "line",
        [
            "XREADGROUP GROUP g bob COUNT 10 STREAMS s >",
            "XREADGROUP GROUP g bob COUNT 10 CLAIM 5 STREAMS s >",
            "XREADGROUP GROUP g ann COUNT 10 STREAMS s 0",
            "XCLAIM s g bob 0 1 2 3",
            "XCLAIM s g bob 0 1 2 3 JUSTID",
            "XCLAIM s g ann 0 1 2 3 IDLE 70000 JUSTID",
            "XCLAIM s g bob 0 1 2 3 RETRYCOUNT 2",
            "XAUTOCLAIM s g bob 0 0",
            "XEXTEND s g ann 70000 1 2 3",
            "XNACK s g FAIL IDS 3 1 2 3",
            "XNACK s g FAIL IDS 3 1 2 3 DELAY 2000",
            "XGROUP CFGSET s g BACKOFF 100",
            "XGROUP SETID s g 0",
            "XGROUP PAUSE s g",
            "RENAME s t",
            "COPY s t",
            "MOVE s 1",
            "SWAPDB 0 1",
        ],
    )
    def test_it_is_that_of_the_first_one(self, queue, line):
        queue.send_line(line)
        queue.send_line("XGROUP RESUME s g")
        key = "s"
        if line.startswith(("RENAME", "COPY")):
            key = "t"
        if line.startswith(("MOVE", "SWAPDB")):
            queue.send_line("SELECT 1")
            queue.send_line("XADD dead 1-0 no letter")
            queue.send_line("DEL dead")
        queue.advance(1)
        self.bury(queue, key)
        assert self.firsts(queue) == dict.fromkeys((1, 2, 3), queue.first)

    def test_what_was_delivered_once_is_dead_with_that_time(self, queue):
        queue.send_line("XNACK s g FATAL IDS 1 1")
        assert self.firsts(queue) == {1: queue.first}
        queue.send_line("XEXTEND s g ann 5000 2")
        queue.send_line("XNACK s g FATAL IDS 1 2")
        assert self.firsts(queue) == {1: queue.first, 2: queue.first}

    @pytest.mark.parametrize(
        "line", ["XNACK s g SILENT IDS 3 1 2 3", "XGROUP DELCONSUMER s g ann HANDOVER"]
    )
    def test_a_delivery_that_does_not_count_is_not_the_first(self, queue, line):
        queue.send_line(line)
        assert len(policy_of(queue).redelivered) == 0
        queue.advance(5)
        queue.send_line("XREADGROUP GROUP g bob COUNT 10 STREAMS s >")
        first = queue.now_ms
        self.bury(queue)
        assert self.firsts(queue) == dict.fromkeys((1, 2, 3), first)

    def test_what_was_acknowledged_begins_anew(self, queue):
        queue.send_line(READ.format("bob"))
        queue.send_line("XACK s g 1 2 3")
        assert len(policy_of(queue).redelivered) == 0
        queue.send_line("XGROUP SETID s g 0")
        queue.send_line(READ.format("bob"))
        first = queue.now_ms
        queue.send_line("XCLAIM s g ann 0 1 JUSTID")
        queue.send_line("XGROUP SETID s g 0")
        queue.advance(1)
        queue.send_line(READ.format("bob"))
        self.bury(queue)
        assert self.firsts(queue) == dict.fromkeys((1, 2, 3), first)

    def test_what_it_was_before_the_group_had_dead_letters_is_not_known(self, queue):
        queue.send_line("XGROUP CFGSET s g MAXDELIVERIES 0")
        queue.send_line(READ.format("bob"))
        queue.send_line("XGROUP CFGSET s g MAXDELIVERIES 3")
        self.bury(queue)
        assert self.firsts(queue) == dict.fromkeys((1, 2, 3), 0)

    @pytest.mark.parametrize(
        "line",
        ["XACK s g 1 2 3", "XACKDEL s g IDS 3 1 2 3", "XDELEX s DELREF IDS 3 1 2 3",
         "XGROUP DELCONSUMER s g bob", "XGROUP SETID s g 0 CLEAR", "XACK s g UPTO 9",
         "XGROUP CFGSET s g MAXDELIVERIES 0", "XNACK s g FATAL IDS 3 1 2 3"],
    )  # fmt: skip
    def test_nothing_is_kept_of_what_is_not_pending(self, queue, line):
        queue.send_line(READ.format("bob"))
        assert len(policy_of(queue).redelivered) == 3
        queue.send_line(line)
        assert len(policy_of(queue).redelivered) == 0

    def test_a_group_without_dead_letters_keeps_nothing(self, queue):
        queue.send_line("XGROUP CREATE s h 0")
        queue.send_line("XGROUP CFGSET s h VISIBILITY 10")
        for _ in range(3):
            queue.send_line("XREADGROUP GROUP h ann STREAMS s >")
            queue.advance(10)
        stream = queue.state.databases[0].table.get(b"s")
        assert stream.find_group(b"h").by_time.redelivered() is None

    def test_clients_cannot_say_it(self, queue):
        assert queue.send("XGROUP", "CFGSET", "s", "g", "FIRST", "1-0 5") == "-ERR syntax error"

    @pytest.mark.parametrize("way", ["rdb", "commands", "restore", "log"])
    def test_it_outlives_the_process(self, queue, way):
        """And what a copy in another form has is the same, byte for byte."""
        queue.send_line("XREADGROUP GROUP g bob COUNT 2 STREAMS s >")
        queue.send_line("XNACK s g FAIL IDS 1 2 DELAY 10")
        other = SocketlessServer(Config())
        other.now_ms = queue.now_ms
        other.turn()
        databases = queue.state.databases
        if way == "rdb":
            filler = Filler(other.state.databases, 0)
            reader = SnapshotReader(b"".join(SnapshotWriter(databases, {})))
            while filler.fill(reader):
                pass
        elif way == "restore":
            other.send_line("XADD dead 1-0 a b")
            other.send_line("DEL dead")
            assert other.send("RESTORE", "s", 0, queue.send_line("DUMP s")) == b"OK"
        else:
            replay = other.dispatcher.replaying.begin()
            units = [words for unit in queue.log.units for _, words in unit]
            made = list(CommandPieces(databases)._commands())
            for words in made if way == "commands" else [*MADE, *units]:
                assert replay(list(words)) == "", words
        here, there = policy_of(queue).redelivered, policy_of(other).redelivered
        assert list(there.words()) == list(here.words())
        assert list(here.words()) == [b"1-0", b"%d" % queue.first, b"2-0", b"%d" % queue.first]
        assert other.send_line("DEBUG DIGEST-VALUE s") == queue.send_line("DEBUG DIGEST-VALUE s")
        self.bury(other)
        assert self.firsts(other) == dict.fromkeys((1, 2, 3), queue.first)

    def test_many_are_written_in_several_commands(self, queue):
        for ms in range(4, 1204):
            queue.send("XADD", "s", f"{ms}-0", "job", ms)
        queue.send_line("XREADGROUP GROUP g ann COUNT 2000 STREAMS s >")
        queue.advance(1000)
        queue.send_line("XREADGROUP GROUP g bob COUNT 2000 STREAMS s >")
        side = queue.state.databases[0].side[b"s"]
        lines = [words for words in side.commands(b"s") if b"FIRST" in words]
        assert [len(words[-1].split()) for words in lines] == [1000, 1000, 406]

    @pytest.mark.parametrize(
        "text", [b"1-0", b"x 1", b"1-0 x", b"1-0 1 1-0 2", b"1-0 123456789012345678901", b"1-0 --1"]
    )
    def test_forged_bytes_are_refused(self, text):
        policy = GroupPolicy()
        policy.set(b"MAXDELIVERIES", b"3")
        with pytest.raises(Corrupt):
            GROUP_POLICY.load(GROUP_POLICY.dump_words([*policy.words(), b"FIRST", text]))

    def test_what_a_payload_says_of_entries_that_are_not_pending_is_dropped(self, queue):
        policy_of(queue).redelivered.add([b"9-9", b"5", b"1-0", b"7"])
        queue.send_line("RESTORE t 0 x")
        assert queue.send("RESTORE", "t", 0, queue.send_line("DUMP s")) == b"OK"
        assert list(policy_of(queue, b"t").redelivered.words()) == [b"1-0", b"7"]

    def test_a_policy_beside_no_stream_does_no_harm(self, queue):
        database = queue.state.databases[0]
        queue.send_line("SET text x")
        database.put_side(b"text", database.side[b"s"].copy())
        assert queue.send("RESTORE", "t", 0, queue.send_line("DUMP text")) == b"OK"
        assert queue.send_line("GET t") == b"x"

    def test_older_dead_letters_are_sent_back_too(self, queue):
        origin = (
            "dead-stream s dead-id 1-0 dead-group g dead-consumer c dead-deliveries 1"
            " dead-delivered-ms 1 dead-reason fatal"
        )
        queue.send_line(f"XADD dead * job old {origin}")
        assert queue.send_line("XREDRIVE dead") == 1
        assert entries(queue, "s")[-1] == {b"job": b"old"}


class TestLimits:
    def test_no_more_are_delivered_than_may_be_pending(self, queue):
        queue.send_line("XGROUP CFGSET s g MAXPENDING 2")
        assert given(queue.send_line(READ.format("ann"))) == [1, 2]
        assert queue.send_line(READ.format("bob")) is None
        queue.send_line("XACK s g 1")
        assert given(queue.send_line(READ.format("bob"))) == [3]

    @pytest.mark.parametrize(
        "line",
        ["XACK s g 1", "XACK s g UPTO 1", "XACKDEL s g IDS 1 1", "XGROUP DELCONSUMER s g ann",
         "XGROUP SETID s g 1 CLEAR", "XGROUP CFGSET s g MAXPENDING 2",
         "XGROUP CFGSET s g MAXPENDING 0", "XDELEX s DELREF IDS 1 1"],
    )  # fmt: skip
    def test_a_reader_waits_for_room(self, queue, line):
        queue.send_line("XGROUP CFGSET s g MAXPENDING 1")
        queue.send_line(READ.format("ann"))
        waiter = queue.client()
        waiter.send_line("XREADGROUP GROUP g bob COUNT 1 BLOCK 0 STREAMS s >")
        queue.send_line("XADD s 4-0 job 4")
        assert waiter.waits
        queue.send_line(line)
        assert given(waiter.reply()) == [2]

    def test_each_consumer_has_a_limit_of_its_own(self, queue):
        queue.send_line("XGROUP CFGSET s g MAXPENDINGPERCONSUMER 1")
        assert given(queue.send_line(READ.format("ann"))) == [1]
        assert queue.send_line(READ.format("ann")) is None
        assert given(queue.send_line(READ.format("bob"))) == [2]

    def test_one_consumer_that_died_gets_its_entry_again(self, queue):
        queue.send_line("XGROUP CFGSET s g MAXPENDINGPERCONSUMER 1 MAXPENDING 1 VISIBILITY 1000")
        queue.send_line(READ.format("ann"))
        queue.advance(1000)
        assert given(queue.send_line(READ.format("ann"))) == [1]

    def test_noack_leaves_nothing_pending(self, queue):
        queue.send_line("XGROUP CFGSET s g MAXPENDING 1")
        line = "XREADGROUP GROUP g ann COUNT 1 NOACK STREAMS s >"
        assert [given(queue.send_line(line)) for _ in range(3)] == [[1], [2], [3]]

    def test_what_was_trimmed_takes_no_room_for_ever(self, queue):
        queue.send_line(READ.format("ann"))
        queue.send_line("XTRIM s MAXLEN 0")
        assert queue.send_line("XREADGROUP GROUP g bob CLAIM 0 STREAMS s >") is None
        queue.send_line("XGROUP CFGSET s g MAXPENDING 3 VISIBILITY 1000")
        queue.send_line("XADD s 9-0 job 9")
        waiter = queue.client()
        waiter.send_line(WAIT.format("bob"))
        queue.advance(999)
        assert waiter.waits
        queue.logged()
        queue.advance(1)
        assert given(waiter.reply()) == [9]
        assert pending(queue) == {9: (b"bob", 1)}
        assert b"XACK s g 1-0" in queue.logged()


class TestPauses:
    def test_nobody_is_woken_by_time_while_it_lasts(self, queue):
        queue.send_line("XGROUP CFGSET s g VISIBILITY 5")
        queue.send_line(READ.format("ann"))
        queue.send_line("XGROUP PAUSE s g")
        waiter = queue.client()
        waiter.send_line(WAIT.format("bob"))
        queue.advance(100)
        assert waiter.client.waiter.block.wake_ms == 0
        queue.send_line("XGROUP RESUME s g")
        assert given(waiter.reply()) == [1, 2, 3]

    def test_nothing_is_delivered_until_it_ends(self, queue):
        assert queue.send_line("XGROUP PAUSE s g") == 1
        assert queue.send_line("XGROUP PAUSE s g") == 0
        assert queue.send_line(READ.format("ann")) is None
        waiter = queue.client()
        waiter.send_line(WAIT.format("bob"))
        queue.send_line("XADD s 4-0 job 4")
        assert waiter.waits
        queue.logged()
        assert queue.send_line("XGROUP RESUME s g") == 1
        assert given(waiter.reply()) == [1, 2, 3, 4]
        assert queue.logged()[0] == b"XGROUP CFGSET s g PAUSED no"
        assert queue.send_line("XGROUP RESUME s g") == 0

    def test_what_is_pending_may_still_be_seen_and_acknowledged(self, queue):
        queue.send_line(READ.format("ann"))
        queue.send_line("XGROUP PAUSE s g")
        assert given(queue.send_line("XREADGROUP GROUP g ann STREAMS s 0")) == [1, 2, 3]
        assert queue.send_line("XACK s g 1 2 3") == 3

    def test_other_groups_go_on(self, queue):
        queue.send_line("XGROUP CREATE s h 0")
        queue.send_line("XGROUP PAUSE s g")
        assert len(queue.send_line("XREADGROUP GROUP h ann STREAMS s >")[0][1]) == 3


def test_a_rewritten_log_and_a_copy_have_the_policy(queue):
    queue.send_line("XGROUP CFGSET s g VISIBILITY 5 MAXDELIVERIES 2 DEADLETTER dead MKSTREAM")
    side = queue.state.databases[0].side[b"s"]
    assert list(side.commands(b"s")) == [
        [b"XGROUP", b"CFGSET", b"s", b"g", b"VISIBILITY", b"5", b"MAXDELIVERIES", b"2",
         b"DEADLETTER", b"dead"],
    ]  # fmt: skip
    queue.send_line("COPY s s2")
    queue.send_line("XGROUP CFGSET s g VISIBILITY 9")
    assert queue.send_line("XGROUP CFGGET s2 g")[1] == 5


class TestExtend:
    @pytest.fixture
    def queue(self, queue):
        queue.send_line("XGROUP CFGSET s g VISIBILITY 1000")
        queue.send_line(READ.format("ann"))
        queue.advance(900)
        queue.logged()
        return queue

    def test_a_consumer_gets_more_time(self, queue):
        until = queue.now_ms + 5000
        assert queue.send_line("XEXTEND s g ann 5000 1-0 3-0") == [until, until]
        queue.advance(100)
        assert given(queue.send_line(READ.format("bob"))) == [2]
        queue.advance(4899)
        assert given(queue.send_line(READ.format("bob"))) == [2]
        queue.advance(1)
        assert given(queue.send_line(READ.format("bob"))) == [1, 3]

    def test_it_may_be_less_time_too(self, queue):
        waiter = queue.client()
        waiter.send_line(WAIT.format("bob"))
        queue.send_line("XEXTEND s g ann 10 2-0")
        queue.advance(9)
        assert waiter.waits
        queue.advance(1)
        assert given(waiter.reply()) == [2]

    def test_its_time_is_one_that_every_server_takes(self, queue):
        """XCLAIM takes no TIME before 1970: a replica would have counted from now on."""
        queue.send_line("XGROUP CFGSET s g VISIBILITY 9007199254740992")
        queue.logged()
        assert queue.send_line("XEXTEND s g ann 5000 1-0") == [9007199254740992]
        (line,) = queue.logged()
        assert line == b"XCLAIM s g ann 0 1-0 TIME 0 RETRYCOUNT 1 FORCE JUSTID LASTID 3-0"

    def test_what_is_no_longer_in_the_stream_is_not_extended(self, queue):
        """A replica that is sent XCLAIM would have it acknowledged."""
        queue.send_line("XDEL s 2-0")
        queue.logged()
        assert queue.send_line("XEXTEND s g ann 5000 2-0") == [None]
        assert queue.logged() == []

    def test_a_wait_that_never_ends_is_one_that_every_server_takes(self, queue):
        """XNACK takes no time beyond 2**53: a replica would not have held the entry."""
        queue.send_line("XGROUP CFGSET s g BACKOFF 9007199254740992")
        queue.logged()
        queue.send_line("XNACK s g FAIL IDS 1 1-0")
        last = b"AT 9007199254740991"  # that very time stands for ever, in a group with ORDERBY
        assert queue.logged()[-1] == b"XNACK s g FAIL IDS 1 1-0 RETRYCOUNT 1 FORCE " + last
        queue.advance(100)
        assert queue.send_line(READ.format("bob")) is None
        held = [line for line in queue.logged() if b"XNACK" in line]
        assert held[-1] == b"XNACK s g FAIL IDS 2 2-0 3-0 RETRYCOUNT 1 FORCE " + last

    def test_it_is_logged_as_a_claim(self, queue):
        queue.send_line("XEXTEND s g ann 5000 1-0")
        assert queue.logged() == [
            b"XCLAIM s g ann 0 1-0 TIME %d RETRYCOUNT 1 FORCE JUSTID LASTID 3-0"
            % (queue.now_ms + 4000)
        ]

    def test_who_replays_it_has_the_time_that_is_still_to_come(self, queue):
        until = queue.send_line("XEXTEND s g ann 5000 1-0")[0]
        follower = SocketlessServer(Config())
        follower.now_ms = queue.now_ms
        follower.turn()
        replay = follower.dispatcher.replaying.begin()
        made = [b"XGROUP CREATE s g 0 MKSTREAM", b"XADD s 1-0 n 1"]
        for line in [*made, *queue.logged()]:
            assert replay(line.split()) == ""
        follower.send_line("XGROUP CFGSET s g VISIBILITY 1000")
        follower.advance(until - follower.now_ms - 1)
        assert given(follower.send_line(READ.format("bob"))) == []
        follower.advance(1)
        assert given(follower.send_line(READ.format("bob"))) == [1]

    def test_what_is_delivered_goes_before_many_that_are_extended(self, queue):
        ids = []
        for ms in range(4, 300):
            queue.send("XADD", "s", f"{ms}-0", "n", ms)
            ids.append(f"{ms}-0")
        queue.send_line("XREADGROUP GROUP g ann COUNT 200 STREAMS s >")
        for at, entry_id in enumerate(ids[:200]):
            queue.send("XEXTEND", "s", "g", "ann", 60_000 + at % 3, entry_id)
        queue.send_line("XREADGROUP GROUP g ann COUNT 1000 STREAMS s >")
        group = queue.state.databases[0].table.get(b"s").find_group(b"g")
        assert group.by_time.check() == 200
        times = [entry.delivery_time for entry in group.by_time]
        assert times == sorted(times)
        queue.advance(1000)
        assert len(given(queue.send_line("XREADGROUP GROUP g bob COUNT 1000 STREAMS s >"))) == 99
        queue.advance(70_000)
        assert len(given(queue.send_line("XREADGROUP GROUP g bob COUNT 1000 STREAMS s >"))) == 299
        assert group.by_time.check() == 0

    def test_only_what_the_consumer_has_is_extended(self, queue):
        queue.send_line("XACK s g 1")
        queue.send_line("XCLAIM s g bob 0 2 JUSTID")
        queue.logged()
        assert queue.send_line("XEXTEND s g ann 5000 1-0 2-0 9-0") == [None] * 3
        assert queue.send_line("XEXTEND s g cem 5000 3-0") == [None]
        assert queue.logged() == []

    @pytest.mark.parametrize(
        ("line", "error"),
        [
            ("XEXTEND s g ann 5000", "-ERR wrong number of arguments for 'xextend' command"),
            ("XEXTEND s h ann 5000 1", "-NOGROUP No such key 's' or consumer group 'h'"),
            ("XEXTEND s g ann 0 1", "-ERR milliseconds must be between 1 and 1099511627776"),
            ("XEXTEND s g ann x 1", "-ERR milliseconds must be between 1 and 1099511627776"),
            ("XEXTEND s g ann 9 x", "-ERR Invalid stream ID specified as stream command argument"),
            ("XEXTEND t g ann 9 1",
             "-WRONGTYPE Operation against a key holding the wrong kind of value"),
        ],
    )  # fmt: skip
    def test_what_is_refused(self, queue, line, error):
        queue.send_line("SET t x")
        assert queue.send_line(line) == error

    def test_where_nobody_takes_anything_there_is_nothing_to_extend(self, queue):
        queue.send_line("XGROUP CFGSET s g VISIBILITY 0")
        assert queue.send_line("XEXTEND s g ann 9 1").startswith("-ERR the group has no VISIBILITY")
