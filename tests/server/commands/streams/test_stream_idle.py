"""XREADGROUP CLAIM: what is logged, and when a client that waits is served.

What it answers is compared with Redis in tests/compat/newer/redis_8_6/stream_claims.txt.
"""

from __future__ import annotations

from typing import Any

import pytest

NOTHING = "nothing has been answered"


@pytest.fixture
def given(server: Any) -> Any:
    """The stream s has 1-0, 2-0, 3-0. alice of the group g was given 1-0 and 2-0 just now."""
    for ms in (1, 2, 3):
        server.send("XADD", "s", f"{ms}-0", "n", ms)
    server.send_line("XGROUP CREATE s g 0")
    server.send_line("XREADGROUP GROUP g alice COUNT 2 STREAMS s >")
    server.logged()
    return server


def entry(ms: int, idle: int, count: int) -> list[Any]:
    return [b"%d-0" % ms, [b"n", b"%d" % ms], idle, count]


def claim_log(now: int, ms: int, name: bytes, count: int, last: int) -> bytes:
    words = b"XCLAIM s g %b 0 %d-0 TIME %d RETRYCOUNT %d FORCE JUSTID LASTID %d-0"
    return words % (name, ms, now, count, last)


class TestLog:
    def test_claimed_entries_are_logged_as_by_xclaim(self, given: Any) -> None:
        given.advance(500)
        reply = given.send_line("XREADGROUP GROUP g bob CLAIM 500 STREAMS s >")
        assert reply == [[b"s", [entry(1, 500, 1), entry(2, 500, 1), entry(3, 0, 0)]]]
        now = given.now_ms
        assert given.transactions() == [
            [
                claim_log(now, 1, b"bob", 2, 3),
                claim_log(now, 2, b"bob", 2, 3),
                claim_log(now, 3, b"bob", 1, 3),
                b"XGROUP SETID s g 3-0 ENTRIESREAD 3",
            ]
        ]

    def test_without_new_entries_the_group_is_not_moved(self, given: Any) -> None:
        given.advance(500)
        given.send_line("XREADGROUP GROUP g bob NOACK CLAIM 500 COUNT 1 STREAMS s >")
        assert given.logged() == [claim_log(given.now_ms, 1, b"bob", 2, 2)]

    def test_noack_is_about_new_entries_only(self, given: Any) -> None:
        given.advance(500)
        given.send_line("XREADGROUP GROUP g bob NOACK CLAIM 500 STREAMS s >")
        assert given.logged() == [
            claim_log(given.now_ms, 1, b"bob", 2, 3),
            claim_log(given.now_ms, 2, b"bob", 2, 3),
            b"XGROUP SETID s g 3-0 ENTRIESREAD 3",
        ]

    def test_who_is_given_nothing_is_a_consumer_all_the_same(self, given: Any) -> None:
        given.send_line("XGROUP SETID s g 3")
        given.logged()
        assert given.send_line("XREADGROUP GROUP g bob CLAIM 500 STREAMS s >") is None
        assert given.logged() == [b"XGROUP CREATECONSUMER s g bob"]


def test_14726_a_delivery_after_the_group_was_set_back_counts_from_one(given: Any) -> None:
    given.advance(500)
    given.send_line("XREADGROUP GROUP g bob CLAIM 500 STREAMS s >")
    given.send_line("XGROUP SETID s g 0")
    given.send_line("XREADGROUP GROUP g carl CLAIM 999999 COUNT 1 STREAMS s >")
    assert given.send_line("XPENDING s g - + 2") == [
        [b"1-0", b"carl", 0, 1],
        [b"2-0", b"bob", 0, 2],
    ]


class TestBounds:
    def test_maxcount_counts_claimed_entries(self, given: Any) -> None:
        given.advance(500)
        reply = given.send_line("XREADGROUP GROUP g bob CLAIM 500 MAXCOUNT 2 STREAMS s >")
        assert reply == [[b"s", [entry(1, 500, 1), entry(2, 500, 1)]]]
        reply = given.send_line("XREADGROUP GROUP g bob CLAIM 0 MAXCOUNT 3 STREAMS s >")
        assert [row[0] for row in reply[0][1]] == [b"1-0", b"2-0", b"3-0"]

    def test_maxsize_leaves_what_there_is_no_room_for(self, given: Any) -> None:
        given.advance(500)
        line = "XREADGROUP GROUP g bob CLAIM 500 MAXSIZE {} STREAMS s >"
        assert given.send_line(line.format(1)) == [[b"s", [entry(1, 500, 1)]]]
        assert given.send_line(line.format(1)) == [[b"s", [entry(2, 500, 1)]]]
        assert given.send_line(line.format(1)) == [[b"s", [entry(3, 0, 0)]]]
        assert [row[3] for row in given.send_line("XPENDING s g - + 9")] == [2, 2, 1]

    def test_7872_a_woken_client_is_given_count_entries(self, given: Any) -> None:
        waiting = given.client()
        waiting.send_line("XREADGROUP GROUP g bob COUNT 1 STREAMS s >")
        waiting.send_line("XREADGROUP GROUP g bob COUNT 2 BLOCK 0 CLAIM 900 STREAMS s >")
        given.send_line("MULTI")
        for ms in range(4, 54):
            given.send("XADD", "s", f"{ms}-0", "n", ms)
        given.send_line("EXEC")
        assert [row[0] for row in waiting.reply()[0][1]] == [b"4-0", b"5-0"]

    def test_6523_history_of_one_key_says_nothing_about_the_next(self, given: Any) -> None:
        given.send_line("COPY s t")
        given.advance(500)
        reply = given.send_line("XREADGROUP GROUP g bob CLAIM 500 COUNT 1 STREAMS s t 0 >")
        assert reply == [[b"s", []], [b"t", [entry(1, 500, 1)]]]


class TestWaiting:
    LINE = "XREADGROUP GROUP g bob BLOCK {} CLAIM {} STREAMS s >"

    @pytest.fixture
    def read(self, given: Any) -> Any:
        """All has been read: 1-0 and 2-0 by alice, 3-0 by carl 100 ms later."""
        given.advance(100)
        given.send_line("XREADGROUP GROUP g carl STREAMS s >")
        return given

    def test_a_client_is_served_when_the_first_entry_may_be_claimed(self, read: Any) -> None:
        waiting = read.client()
        assert waiting.send_line(self.LINE.format(0, 300)) == NOTHING
        read.advance(199)
        assert waiting.reply() == NOTHING
        read.advance(1)
        assert waiting.reply() == [[b"s", [entry(1, 300, 1), entry(2, 300, 1)]]]
        waiting.send_line(self.LINE.format(0, 300))
        read.advance(100)
        assert waiting.reply() == [[b"s", [entry(3, 300, 1)]]]

    def test_the_end_of_the_wait_may_come_before(self, read: Any) -> None:
        waiting = read.client()
        waiting.send_line(self.LINE.format(199, 300))
        read.advance(1000)
        assert waiting.reply() is None
        assert read.state.blocking.next_deadline_ms is None

    def test_a_jump_of_time_serves_in_the_order_of_the_moments(self, read: Any) -> None:
        first, second = read.client(), read.client()
        first.send_line(self.LINE.format(900, 500))
        second.send_line(self.LINE.format(100, 50_000))
        read.advance(5000)
        assert second.reply() is None
        assert [row[0] for row in first.reply()[0][1]] == [b"1-0", b"2-0", b"3-0"]

    def test_the_oldest_waiter_is_served_first(self, read: Any) -> None:
        first, second = read.client(), read.client()
        first.send_line("XREADGROUP GROUP g bob COUNT 1 BLOCK 0 CLAIM 300 STREAMS s >")
        second.send_line("XREADGROUP GROUP g dora COUNT 1 BLOCK 0 CLAIM 300 STREAMS s >")
        read.advance(200)
        assert first.reply() == [[b"s", [entry(1, 300, 1)]]]
        assert second.reply() == [[b"s", [entry(2, 300, 1)]]]

    def test_what_is_acknowledged_meanwhile_wakes_nobody(self, read: Any) -> None:
        waiting = read.client()
        waiting.send_line(self.LINE.format(0, 300))
        read.send_line("XACK s g 1 2")
        read.advance(250)
        assert waiting.reply() == NOTHING
        read.advance(50)
        assert waiting.reply() == [[b"s", [entry(3, 300, 1)]]]

    def test_what_is_delivered_meanwhile_can_be_claimed_in_time(self, read: Any) -> None:
        read.send_line("XACK s g 1 2 3")
        waiting = read.client()
        waiting.send_line(self.LINE.format(0, 300))
        assert read.state.blocking.next_deadline_ms is None
        read.send_line("XGROUP SETID s g 2")
        read.advance(70)
        read.send_line("XREADGROUP GROUP g alice STREAMS s >")
        read.advance(299)
        assert waiting.reply() == NOTHING
        read.advance(1)
        assert waiting.reply() == [[b"s", [entry(3, 300, 1)]]]

    def test_a_claim_that_sets_the_time_back_is_seen_at_once(self, read: Any) -> None:
        waiting = read.client()
        waiting.send_line(self.LINE.format(0, 5000))
        read.send_line("XCLAIM s g alice 0 3 IDLE 4990 JUSTID")
        read.advance(9)
        assert waiting.reply() == NOTHING
        read.advance(1)
        assert waiting.reply() == [[b"s", [entry(3, 5000, 1)]]]

    def test_entries_that_are_gone_are_not_waited_for(self, read: Any) -> None:
        read.send_line("XDEL s 1 2 3")
        waiting = read.client()
        waiting.send_line(self.LINE.format(0, 300))
        assert read.state.blocking.next_deadline_ms is None

    def test_a_waiter_on_several_streams_is_woken_by_the_first_that_is_due(self, read: Any) -> None:
        read.send_line("XGROUP CREATE t g 0 MKSTREAM")
        waiting = read.client()
        waiting.send_line("XREADGROUP GROUP g bob BLOCK 0 CLAIM 300 STREAMS t s > >")
        read.advance(200)
        assert waiting.reply() == [[b"s", [entry(1, 300, 1), entry(2, 300, 1)]]]

    def test_nothing_is_left_of_waits_that_were_served(self, read: Any) -> None:
        """Each leaves a moment far ahead; they are dropped when they are the majority."""
        waiting = read.client()
        for ms in range(4, 400):
            waiting.send_line("XREADGROUP GROUP g bob BLOCK 0 CLAIM 999999 STREAMS s >")
            read.send("XADD", "s", f"{ms}-0", "n", ms)
            assert waiting.reply()[0][1][0][0] == b"%d-0" % ms
        assert len(read.state.blocking._alarms) < 100

    def test_clients_that_do_not_claim_are_not_run_again_by_deliveries(self, read: Any) -> None:
        waiting = read.client()
        waiting.send_line("XREADGROUP GROUP g bob BLOCK 0 STREAMS s >")
        waiter = waiting.client.waiter
        read.send_line("XGROUP SETID s g 2")
        read.send_line("XREADGROUP GROUP g alice STREAMS s >")
        assert waiting.client.waiter is waiter
        assert waiter.turn == 0
