"""BACKOFF, XNACK DELAY and REASON, WITHDEADLINE: when an entry is given again, and until when."""

from __future__ import annotations

from itertools import pairwise

import pytest

from storage.stream import rewrite
from tests.server.commands.streams.test_group_policies import entries, given, pending

READ = "XREADGROUP GROUP g {} STREAMS s >"
WAIT = "XREADGROUP GROUP g {} BLOCK 0 STREAMS s >"


@pytest.fixture
def queue(server):
    """The stream s has 1-0, 2-0 and 3-0. Its group g waits 100 ms, then 1000 ms."""
    server.send_line("XGROUP CREATE s g 0 MKSTREAM")
    for ms in (1, 2, 3):
        server.send("XADD", "s", f"{ms}-0", "job", ms)
    server.send_line("XGROUP CREATE s g2 0")
    server.send_line("XGROUP CFGSET s g VISIBILITY 500 BACKOFF 100 1000")
    server.logged()
    return server


class TestBackoff:
    def test_what_is_not_acknowledged_in_time_waits(self, queue):
        queue.send_line(READ.format("ann"))
        queue.advance(599)
        assert queue.send_line(READ.format("bob")) is None
        assert pending(queue)[1] == (b"", 1)
        queue.advance(1)
        assert given(queue.send_line(READ.format("bob"))) == [1, 2, 3]

    def test_of_many_that_need_not_wait_any_more_those_after_them_are_found_as_well(self, queue):
        """A call looks at 10,000; the client that waits goes on from there."""
        for _ in range(10_000):
            queue.send("XADD", "s", "*", "job", "x")
        queue.send_line(READ.format("ann"))
        queue.send_line("XCLAIM s g ann 0 3-0 RETRYCOUNT 2")  # it waits for 1000 ms
        queue.advance(600)
        waiter = queue.client()
        waiter.send_line("XREADGROUP GROUP g bob BLOCK 0 WHERE job 1 none STREAMS s >")
        assert queue.send_line("XPENDING s g 3-0 3-0 1")[0][1] == b"ann"
        queue.advance(1)
        assert queue.send_line("XPENDING s g 3-0 3-0 1")[0][1] == b""

    def test_a_clock_that_was_set_back_makes_them_wait_again(self, queue):
        queue.send_line(READ.format("ann"))
        queue.advance(600)
        queue.send_line("XREADGROUP GROUP g bob WHERE job 1 none STREAMS s >")
        queue.now_ms -= 50
        waiter = queue.client()
        waiter.send_line(WAIT.format("bob"))
        assert waiter.waits
        queue.advance(50)
        assert given(waiter.reply()) == [1, 2, 3]

    def test_what_is_set_of_the_stream_is_no_reason_to_look_again(self, queue):
        queue.send_line(READ.format("ann"))
        queue.advance(600)
        queue.send_line("XREADGROUP GROUP g bob WHERE job 1 none STREAMS s >")
        by_time = queue.state.databases[0].peek(b"s").find_group(b"g").by_time
        for line in ("XADD s DELAY 1000 * job x", "XCFGSET s RETAIN-AGE 7d", "XGROUP PAUSE s g2"):
            queue.send_line(line)
            assert by_time.first_not_due(queue.now_ms) is None
        queue.send_line("XGROUP CFGSET s g BACKOFF 5000")
        assert by_time.first_not_due(queue.now_ms) is not None

    def test_the_last_number_is_for_all_others(self, queue):
        at: list[int] = []
        for _ in range(4):
            reader = queue.client()
            reader.send_line(WAIT.format("ann") if at else READ.format("ann"))
            while reader.waits:
                queue.advance(50)
            at.append(queue.now_ms)
        assert [later - earlier for earlier, later in pairwise(at)] == [
            600, 1500, 1500,
        ]  # fmt: skip

    def test_a_reader_that_waits_is_woken_in_time(self, queue):
        queue.send_line(READ.format("ann"))
        waiter = queue.client()
        waiter.send_line(WAIT.format("bob"))
        queue.advance(599)
        assert waiter.waits
        queue.advance(1)
        assert given(waiter.reply()) == [1, 2, 3]

    def test_it_counts_from_the_end_of_the_visibility_whoever_looks(self, queue):
        queue.send_line(READ.format("ann"))
        queue.advance(5000)
        assert given(queue.send_line(READ.format("bob"))) == [1, 2, 3]

    @pytest.mark.parametrize(("mode", "waits"), [("FAIL", True), ("SILENT", False)])
    def test_what_fails_waits_and_what_is_given_back_does_not(self, queue, mode, waits):
        queue.send_line(READ.format("ann"))
        queue.send_line(f"XNACK s g {mode} IDS 1 2")
        assert given(queue.send_line(READ.format("bob"))) == ([] if waits else [2])
        queue.advance(100)
        assert given(queue.send_line(READ.format("bob"))) == ([2] if waits else [])

    def test_without_visibility_what_fails_is_given_again(self, queue):
        queue.send_line("XGROUP CFGSET s g VISIBILITY 0")
        queue.send_line(READ.format("ann"))
        queue.send_line("XNACK s g FAIL IDS 1 2")
        waiter = queue.client()
        waiter.send_line(WAIT.format("bob"))
        queue.advance(99)
        assert waiter.waits
        queue.advance(1)
        assert given(waiter.reply()) == [2]
        queue.advance(10_000)
        assert queue.send_line(READ.format("bob")) is None

    def test_the_dead_do_not_wait(self, queue):
        queue.send_line("XGROUP CFGSET s g MAXDELIVERIES 1 DEADLETTER dead MKSTREAM")
        queue.send_line(READ.format("ann"))
        queue.advance(500)
        queue.send_line(READ.format("bob"))
        assert queue.send_line("XLEN dead") == 3

    def test_who_is_late_may_still_acknowledge(self, queue):
        queue.send_line(READ.format("ann"))
        queue.advance(500)
        queue.send_line(READ.format("bob"))
        assert queue.send_line("XACK s g 1 2 3") == 3
        queue.advance(100)
        assert queue.send_line(READ.format("bob")) is None

    def test_many_lapse_by_and_by(self, queue):
        for ms in range(4, 1000):
            queue.send("XADD", "s", f"{ms}-0", "job", ms)
        queue.send_line(READ.format("ann"))
        queue.advance(500)
        assert queue.send_line(READ.format("bob")) is None
        assert len([owner for owner, _ in pending(queue).values()]) == 100
        waiter = queue.client()
        waiter.send_line(WAIT.format("bob"))
        for _ in range(10):
            assert waiter.waits
            queue.advance(1)
        rows = queue.send_line("XPENDING s g")[3]
        assert rows == []
        queue.advance(90)
        assert len(given(waiter.reply())) == 200

    def test_many_die_by_and_by(self, queue):
        queue.send_line("XGROUP CFGSET s g MAXDELIVERIES 1 DEADLETTER dead MKSTREAM")
        for ms in range(4, 1001):
            queue.send("XADD", "s", f"{ms}-0", "job", ms)
        queue.send_line(READ.format("ann"))
        queue.advance(500)
        assert queue.send_line(READ.format("bob")) is None
        assert queue.send_line("XLEN dead") == 200
        waiter = queue.client()
        waiter.send_line(WAIT.format("bob"))
        for _ in range(10):
            queue.advance(1)
        assert queue.send_line("XLEN dead") == 1000
        assert waiter.waits

    def test_it_is_logged_in_two_words_one_of_which_redis_knows(self, queue):
        queue.send_line(READ.format("ann"))
        queue.send_line("XACK s g 2 3")
        queue.advance(500)
        queue.logged()
        queue.send_line(READ.format("ann"))
        at = b"AT %d" % (queue.now_ms + 100)
        assert queue.logged() == [
            b"XNACK s g FAIL IDS 1 1-0 RETRYCOUNT 1 FORCE",
            b"XNACK s g FAIL IDS 1 1-0 RETRYCOUNT 1 FORCE " + at,
        ]


class TestDelay:
    @pytest.mark.parametrize("words", ["DELAY 250", "AT {}"])
    def test_an_entry_is_held_until_a_time(self, queue, words):
        queue.send_line(READ.format("ann"))
        line = f"XNACK s g FAIL IDS 1 2 {words.format(queue.now_ms + 250)}"
        assert queue.send_line(line) == 1
        queue.advance(249)
        assert queue.send_line(READ.format("bob")) is None
        queue.advance(1)
        assert given(queue.send_line(READ.format("bob"))) == [2]

    def test_it_needs_no_policy(self, queue):
        queue.send_line("XGROUP CFGSET s g VISIBILITY 0 BACKOFF 0")
        queue.send_line(READ.format("ann"))
        queue.send_line("XNACK s g SILENT IDS 1 2 DELAY 250")
        waiter = queue.client()
        waiter.send_line("XREADGROUP GROUP g bob BLOCK 0 CLAIM 100000 STREAMS s >")
        queue.advance(249)
        assert waiter.waits
        queue.advance(1)
        assert given(waiter.reply()) == [2]

    def test_who_names_it_may_have_it_and_who_claims_the_idle_not(self, queue):
        queue.send_line(READ.format("ann"))
        queue.send_line("XNACK s g FAIL IDS 2 1 2 DELAY 250")
        assert queue.send_line("XAUTOCLAIM s g bob 1 0")[1] == []
        assert queue.send_line("XPENDING s g IDLE 1 - + 9") == []
        assert len(queue.send_line("XCLAIM s g bob 0 1")) == 1
        queue.advance(250)
        assert [row[0] for row in queue.send_line("XPENDING s g IDLE 250 - + 9")] == [
            b"1-0", b"2-0", b"3-0",
        ]  # fmt: skip

    def test_what_is_held_is_acknowledged_deleted_held_anew(self, queue):
        queue.send_line(READ.format("ann"))
        queue.send_line("XNACK s g FAIL IDS 3 1 2 3 DELAY 250")
        assert queue.send_line("XACK s g 1") == 1
        queue.send_line("XDEL s 2")
        queue.send_line("XNACK s g FAIL IDS 1 3 DELAY 50")
        queue.advance(50)
        assert given(queue.send_line(READ.format("bob"))) == [3]
        queue.advance(250)
        assert queue.send_line(READ.format("bob")) is None

    def test_it_is_saved_and_copied_and_loaded(self, queue):
        queue.send_line(READ.format("ann"))
        queue.send_line("XNACK s g FAIL IDS 1 1 DELAY 20")
        queue.send_line("XNACK s g FAIL IDS 2 2 3 DELAY 10")
        payload = queue.send("DUMP", "s")
        queue.send("RESTORE", "restored", "0", payload)
        queue.send_line("COPY s copied")
        for argv in rewrite.commands(b"rewritten", queue.state.databases[0].peek(b"s")):
            queue.send(*argv)
        for key in ("restored", "copied", "rewritten"):
            assert queue.send_line(f"XPENDING {key} g - + 9") == queue.send_line(
                "XPENDING s g - + 9"
            )
            claim = f"XREADGROUP GROUP g bob CLAIM 1000000 STREAMS {key} >"
            assert queue.send_line(claim) is None
        queue.advance(10)
        for key in ("restored", "copied", "rewritten"):
            claim = f"XREADGROUP GROUP g bob CLAIM 1000000 STREAMS {key} >"
            assert given(queue.send_line(claim)) == [2, 3]

    @pytest.mark.parametrize(
        ("words", "error"),
        [
            ("DELAY x", "-ERR DELAY and AT take milliseconds up to 9007199254740992"),
            ("DELAY -1", "-ERR DELAY and AT take milliseconds up to 9007199254740992"),
            ("AT 9007199254740993", "-ERR DELAY and AT take milliseconds up to 9007199254740992"),
            ("DELAY 9007199254740992",
             "-ERR DELAY and AT take milliseconds up to 9007199254740992"),
            ("DELAY 1 AT 1", "-ERR DELAY and AT are one time: one of them may be given, once"),
            ("DELAY", "-ERR Unrecognized XNACK option 'DELAY'"),
            ("REASON " + "x" * 1025, "-ERR REASON takes a text of at most 1024 bytes"),
        ],
    )  # fmt: skip
    def test_what_is_refused_changes_nothing(self, queue, words, error):
        queue.send_line(READ.format("ann"))
        before = pending(queue)
        assert queue.send_line(f"XNACK s g FAIL IDS 1 1 {words}") == error
        assert pending(queue) == before


class TestReason:
    @pytest.fixture
    def queue(self, queue):
        queue.send_line("XGROUP CFGSET s g MAXDELIVERIES 2 DEADLETTER dead MKSTREAM")
        queue.send_line(READ.format("ann"))
        return queue

    def test_it_is_that_of_the_dead_letter(self, queue):
        assert queue.send("XNACK", "s", "g", "FATAL", "IDS", 1, 1, "REASON", "no such user") == 1
        assert entries(queue, "dead")[0][b"dead-reason"] == b"no such user"

    def test_with_it_the_last_failure_is_the_end(self, queue):
        assert queue.send_line("XNACK s g FAIL IDS 1 1 REASON once") == 1
        assert queue.send_line("XLEN dead") == 0
        queue.advance(100)
        assert given(queue.send_line(READ.format("ann"))) == [1]
        assert queue.send_line("XNACK s g FAIL IDS 2 1 2 REASON twice") == 2
        assert [letter[b"dead-reason"] for letter in entries(queue, "dead")] == [b"twice"]
        assert list(pending(queue)) == [2, 3]


class TestDeadline:
    def test_each_entry_ends_with_it(self, queue):
        told = queue.send_line("XREADGROUP GROUP g ann COUNT 1 WITHDEADLINE STREAMS s >")
        assert told == [[b"s", [[b"1-0", [b"job", b"1"], queue.now_ms + 500]]]]
        queue.advance(600)
        told = queue.send_line("XREADGROUP GROUP g ann COUNT 1 WITHDEADLINE STREAMS s >")
        assert told == [[b"s", [[b"1-0", [b"job", b"1"], queue.now_ms + 500]]]]

    def test_claim_tells_it_last(self, queue):
        queue.send_line("XREADGROUP GROUP g ann COUNT 1 STREAMS s >")
        queue.advance(20)
        line = "XREADGROUP GROUP g bob COUNT 2 WITHDEADLINE CLAIM 10 STREAMS s >"
        until = queue.now_ms + 500
        assert queue.send_line(line)[0][1] == [
            [b"1-0", [b"job", b"1"], 20, 1, until], [b"2-0", [b"job", b"2"], 0, 0, until],
        ]  # fmt: skip

    @pytest.mark.parametrize("words", ["NOACK WITHDEADLINE", "WITHDEADLINE"])
    def test_it_is_null_where_there_is_none(self, queue, words):
        if "NOACK" not in words:
            queue.send_line("XGROUP CFGSET s g VISIBILITY 0")
        told = queue.send_line(f"XREADGROUP GROUP g ann COUNT 1 {words} STREAMS s >")
        assert told == [[b"s", [[b"1-0", [b"job", b"1"], None]]]]

    def test_it_is_of_new_entries_and_of_groups_only(self, queue):
        line = "XREADGROUP GROUP g ann WITHDEADLINE STREAMS s 0"
        assert queue.send_line(line) == "-ERR WITHDEADLINE and WITHFENCE go with the > ID only"
        assert queue.send_line("XREAD WITHDEADLINE STREAMS s 0") == "-ERR syntax error"

    def test_without_fields_it_follows_the_id(self, queue):
        line = "XREADGROUP GROUP g ann COUNT 1 WITHDEADLINE NOFIELDS STREAMS s >"
        until = queue.now_ms + 500
        assert queue.send_line(line) == [[b"s", [[b"1-0", until]]]]
        line = "XREADGROUP GROUP g ann COUNT 1 WITHDEADLINE NOFIELDS CLAIM 9 STREAMS s >"
        assert queue.send_line(line) == [[b"s", [[b"2-0", 0, 0, until]]]]
