"""XCLAIM and XAUTOCLAIM."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server.config.parameters import Config
from storage.stream.stream_id import StreamId
from tests.server.conftest import SocketlessServer
from tests.worth import rounds

MAX_COUNT = (2**63 - 1) // 16


@pytest.fixture
def filled(server: Any) -> Any:
    """A server with the stream s (1-0 .. 5-0).

    In its group g, alice was given 1-0 to 4-0 a second ago. bob has nothing.
    """
    for ms in (1, 2, 3, 4, 5):
        server.send("XADD", "s", f"{ms}-0", "n", ms)
    server.send_line("XGROUP CREATE s g 0")
    server.send_line("XREADGROUP GROUP g alice COUNT 4 STREAMS s >")
    server.advance(1000)
    server.send_line("XGROUP CREATECONSUMER s g bob")
    server.logged()
    return server


def entry(ms: int) -> list[Any]:
    return [b"%d-0" % ms, [b"n", b"%d" % ms]]


def pending(filled: Any) -> dict[bytes, tuple[bytes, int, int]]:
    """The pending entries of g: id -> (consumer, idle ms, number of deliveries)."""
    return {row[0]: tuple(row[1:]) for row in filled.send_line("XPENDING s g - + 100")}


class TestXclaim:
    def test_gives_entries_to_the_consumer_and_counts_the_delivery(self, filled: Any) -> None:
        assert filled.send_line("XCLAIM s g bob 500 1-0 2") == [entry(1), entry(2)]
        assert pending(filled) == {
            b"1-0": (b"bob", 0, 2),
            b"2-0": (b"bob", 0, 2),
            b"3-0": (b"alice", 1000, 1),
            b"4-0": (b"alice", 1000, 1),
        }

    def test_leaves_entries_that_are_not_idle_long_enough(self, filled: Any) -> None:
        assert filled.send_line("XCLAIM s g bob 1001 1-0") == []
        assert filled.send_line("XCLAIM s g bob 1000 1-0") == [entry(1)]
        assert filled.send_line("XCLAIM s g alice -1 1-0") == [entry(1)]

    def test_justid_answers_ids_and_does_not_count(self, filled: Any) -> None:
        assert filled.send_line("XCLAIM s g bob 0 1-0 JUSTID") == [b"1-0"]
        assert pending(filled)[b"1-0"] == (b"bob", 0, 1)

    @pytest.mark.parametrize(
        ("options", "idle", "count"),
        [
            ("IDLE 300", 300, 2),
            ("TIME 1700000000900", 100, 2),
            ("TIME -5", 0, 2),
            ("IDLE -5", 0, 2),
            ("TIME 9900000000000", 0, 2),
            ("RETRYCOUNT 7", 0, 7),
            ("RETRYCOUNT 7 JUSTID", 0, 7),
            ("RETRYCOUNT -1", 0, 2),
        ],
    )
    def test_options_set_the_delivery_time_and_count(
        self, filled: Any, options: str, idle: int, count: int
    ) -> None:
        filled.send_line(f"XCLAIM s g bob 0 1-0 {options}")
        assert pending(filled)[b"1-0"] == (b"bob", idle, count)

    def test_an_entry_that_is_not_pending_needs_force(self, filled: Any) -> None:
        assert filled.send_line("XCLAIM s g bob 0 5-0") == []
        assert filled.send_line("XCLAIM s g bob 99999 5-0 9-0 FORCE") == [entry(5)]
        assert pending(filled)[b"5-0"] == (b"bob", 0, 2)

    def test_a_deleted_entry_is_removed_from_the_pending_entries(self, filled: Any) -> None:
        filled.send_line("XDEL s 2-0")
        filled.logged()
        assert filled.send_line("XCLAIM s g bob 99999 1-0 2-0 FORCE") == []
        assert sorted(pending(filled)) == [b"1-0", b"3-0", b"4-0"]
        assert filled.logged() == [
            b"XCLAIM s g alice 0 2-0 TIME 1700000000000 RETRYCOUNT 1 FORCE JUSTID LASTID 4-0"
        ]

    def test_lastid_only_moves_the_group_forward(self, filled: Any) -> None:
        filled.send_line("XCLAIM s g bob 0 9-9 LASTID 5-0")
        assert filled.logged() == [b"XGROUP SETID s g 5-0 ENTRIESREAD 4"]
        filled.send_line("XCLAIM s g bob 0 9-9 LASTID 3-0")
        assert filled.logged() == []
        report = filled.send_line("XINFO GROUPS s")[0]
        assert report[report.index(b"last-delivered-id") + 1] == b"5-0"

    def test_creates_the_consumer_and_sets_its_seen_time(self, filled: Any) -> None:
        filled.send_line("XCLAIM s g carol 99999 1-0")
        filled.advance(10)
        report = filled.send_line("XINFO CONSUMERS s g")[2]
        assert report == [b"name", b"carol", b"pending", 0, b"idle", 10, b"inactive", -1]

    def test_is_logged_with_an_absolute_time(self, filled: Any) -> None:
        filled.send_line("XCLAIM s g bob 0 1-0 IDLE 300")
        assert filled.logged() == [
            b"XCLAIM s g bob 0 1-0 TIME 1700000000700 RETRYCOUNT 2 FORCE JUSTID LASTID 4-0"
        ]

    @pytest.mark.parametrize(
        ("words", "error"),
        [
            ("s nog bob 0 1-0", "NOGROUP No such key 's' or consumer group 'nog'"),
            ("nokey g bob 0 1-0", "NOGROUP No such key 'nokey' or consumer group 'g'"),
            ("s g bob x 1-0", "ERR Invalid min-idle-time argument for XCLAIM"),
            ("s g bob 0 1-0 IDLE x", "ERR Invalid IDLE option argument for XCLAIM"),
            ("s g bob 0 1-0 TIME x", "ERR Invalid TIME option argument for XCLAIM"),
            ("s g bob 0 1-0 RETRYCOUNT x", "ERR Invalid RETRYCOUNT option argument for XCLAIM"),
            (
                "s g bob 0 1-0 LASTID x",
                "ERR Invalid stream ID specified as stream command argument",
            ),
            ("s g bob 0 1-0 NOSUCH", "ERR Unrecognized XCLAIM option 'NOSUCH'"),
            ("s g bob 0 1-0 IDLE", "ERR Unrecognized XCLAIM option 'IDLE'"),
            ("s g bob 0 1-0 FORCE 2-0", "ERR Unrecognized XCLAIM option '2-0'"),
        ],
    )
    def test_refusals_change_nothing(self, filled: Any, words: str, error: str) -> None:
        before = pending(filled)
        assert filled.send_line(f"XCLAIM {words}") == f"-{error}"
        assert pending(filled) == before


class TestXautoclaim:
    def test_claims_idle_entries_and_answers_the_next_start(self, filled: Any) -> None:
        filled.send_line("XCLAIM s g bob 0 2-0")
        assert filled.send_line("XAUTOCLAIM s g bob 500 - COUNT 2") == [
            b"4-0", [entry(1), entry(3)], [],
        ]  # fmt: skip
        assert filled.send_line("XAUTOCLAIM s g bob 500 4-0") == [b"0-0", [entry(4)], []]

    def test_the_start_may_be_exclusive(self, filled: Any) -> None:
        assert filled.send_line("XAUTOCLAIM s g bob 0 (3-0 JUSTID") == [b"0-0", [b"4-0"], []]

    def test_justid_does_not_count(self, filled: Any) -> None:
        filled.send_line("XAUTOCLAIM s g bob 0 - COUNT 1 JUSTID")
        assert pending(filled)[b"1-0"] == (b"bob", 0, 1)
        filled.send_line("XAUTOCLAIM s g bob 0 - COUNT 1")
        assert pending(filled)[b"1-0"] == (b"bob", 0, 2)

    def test_deleted_entries_are_removed_answered_and_counted(self, filled: Any) -> None:
        filled.send_line("XDEL s 1-0 3-0")
        assert filled.send_line("XAUTOCLAIM s g bob 0 - COUNT 2") == [b"3-0", [entry(2)], [b"1-0"]]
        assert filled.send_line("XAUTOCLAIM s g bob 0 3-0") == [b"0-0", [entry(4)], [b"3-0"]]
        assert sorted(pending(filled)) == [b"2-0", b"4-0"]

    def test_what_is_due_behind_ten_times_count_entries_is_found_by_time(self, filled: Any) -> None:
        for ms in range(6, 31):
            filled.send("XADD", "s", f"{ms}-0", "n", ms)
        filled.send_line("XREADGROUP GROUP g alice STREAMS s >")
        assert filled.send_line("XCLAIM s g alice 0 1-0 2-0 3-0 4-0 JUSTID")[0] == b"1-0"
        assert filled.send_line("XAUTOCLAIM s g bob 500 - COUNT 1") == [b"0-0", [], []]
        filled.send_line("XCLAIM s g alice 0 25-0 21-0 28-0 IDLE 600 JUSTID")
        filled.send_line("XDEL s 25-0")
        one = "XAUTOCLAIM s g bob 500 {} COUNT 1"
        assert filled.send_line(one.format("-")) == [b"25-0", [entry(21)], []]
        assert filled.send_line(one.format("24-0")) == [b"26-0", [], [b"25-0"]]  # by id
        assert filled.send_line(one.format("-")) == [b"0-0", [entry(28)], []]

    def test_if_many_are_due_the_oldest_are_claimed_and_the_cursor_is_where_the_walk_stopped(
        self, filled: Any
    ) -> None:
        for ms in range(6, 200):
            filled.send("XADD", "s", f"{ms}-0", "n", ms)
        filled.send_line("XREADGROUP GROUP g alice STREAMS s >")
        ids = [f"{ms}-0" for ms in range(50, 151)]
        filled.send("XCLAIM", "s", "g", "alice", 0, *ids, "IDLE", 600, "JUSTID")
        filled.send_line("XCLAIM s g alice 0 1-0 2-0 3-0 4-0 JUSTID")
        one = "XAUTOCLAIM s g bob 500 - COUNT 1 JUSTID"
        assert filled.send_line(one) == [b"11-0", [b"50-0"], []]
        filled.send_line("XCLAIM s g alice 0 140-0 IDLE 700 JUSTID")
        assert filled.send_line(one) == [b"11-0", [b"51-0"], []]
        filled.send("XACK", "s", "g", *[f"{ms}-0" for ms in range(52, 100)])
        filled.send_line("XCLAIM s g alice 0 120-0 121-0 IDLE 700 JUSTID")
        assert filled.send_line(one) == [b"101-0", [b"100-0"], []]

    def test_a_million_of_which_three_are_due_take_one_call(self, filled: Any) -> None:
        """Those that nobody looks at, after the first thousand, need not be in the stream."""
        filled.send_line("XACK s g 1-0 2-0 3-0 4-0 5-0")
        group = filled.state.databases[0].table.get(b"s").find_group(b"g")
        alice, now = group.find_consumer(b"alice"), filled.now_ms
        late = rounds(1_000_000)
        due = [late // 2, late - 7, late]
        for ms in range(6, 1010):
            filled.send("XADD", "s", f"{ms}-0", "n", ms)
        for ms in due:
            filled.send("XADD", "s", f"{ms}-0", "n", ms)
            group.deliver(StreamId(ms, 0), alice, now - 60_000)
        for ms in range(6, late):
            if ms not in due:
                group.deliver(StreamId(ms, 0), alice, now)
        assert filled.send_line("XAUTOCLAIM s g bob 60000 0-0") == [
            b"0-0", [entry(ms) for ms in due], [],
        ]  # fmt: skip
        assert filled.send_line("XAUTOCLAIM s g bob 60000 0-0") == [b"0-0", [], []]
        assert len(group.due(60_000, now + 60_000, late)) == late - 5
        assert len(group.due(60_000, now + 60_000, 7)) == 7
        assert group.due(60_000, now, 3) == []

    @given(
        delays=st.lists(st.sampled_from([0, 0, 0, 600]), min_size=1, max_size=200),
        gone=st.sets(st.integers(0, 199), max_size=40),
        released=st.sets(st.integers(0, 199), max_size=5),
        held=st.dictionaries(st.integers(0, 199), st.sampled_from([1, 700]), max_size=5),
        count=st.integers(1, 4),
    )
    @settings(max_examples=rounds(150), deadline=None)
    def test_a_loop_until_0_0_gives_each_that_was_due_once(
        self, delays: list[int], gone: set[int], released: set[int], held: dict[int, int],
        count: int,
    ) -> None:  # fmt: skip
        config = Config()
        config.save = []
        server = SocketlessServer(config)
        server.send_line("XGROUP CREATE s g 0 MKSTREAM")
        due = set()
        for ms, delay in enumerate(delays, 1):
            server.send("XADD", "s", f"{ms}-0", "n", ms)
            server.send_line("XREADGROUP GROUP g alice STREAMS s >")
            if ms in released:
                server.send_line(f"XNACK s g FAIL IDS 1 {ms}-0")
            elif ms in held:
                server.send_line(f"XNACK s g FAIL IDS 1 {ms}-0 DELAY {held[ms]}")
            else:
                server.send_line(f"XCLAIM s g alice 0 {ms}-0 IDLE {delay} JUSTID")
            if held.get(ms) == 1 or ms in released or (delay and ms not in held):
                due.add(ms)
        server.advance(1)
        deleted = {ms for ms in gone if ms <= len(delays)}
        for ms in deleted:
            server.send_line(f"XDEL s {ms}-0")
        start, found, dropped = b"0-0", [], []
        while True:
            cursor, claimed, ids = server.send_line(
                f"XAUTOCLAIM s g bob 500 {start.decode()} COUNT {count} JUSTID"
            )
            found += [int(text[:-2]) for text in claimed]
            dropped += [int(text[:-2]) for text in ids]
            assert len(claimed) + len(ids) <= count
            if cursor == b"0-0":
                break
            assert int(cursor[:-2]) > int(start[:-2])
            start = cursor
        assert sorted(found) == sorted(due - deleted)
        assert due & deleted <= set(dropped) <= deleted
        assert len(dropped) == len(set(dropped))

    def test_logs_claimed_and_removed_entries(self, filled: Any) -> None:
        filled.send_line("XDEL s 1-0")
        filled.logged()
        filled.send_line("XAUTOCLAIM s g bob 0 - COUNT 2")
        assert filled.logged() == [
            b"XCLAIM s g alice 0 1-0 TIME 1700000000000 RETRYCOUNT 1 FORCE JUSTID LASTID 4-0",
            b"XCLAIM s g bob 0 2-0 TIME 1700000001000 RETRYCOUNT 2 FORCE JUSTID LASTID 4-0",
        ]

    @pytest.mark.parametrize(
        ("words", "error"),
        [
            ("s nog bob 0 -", "NOGROUP No such key 's' or consumer group 'nog'"),
            ("s g bob x -", "ERR Invalid min-idle-time argument for XAUTOCLAIM"),
            ("s g bob 0 x", "ERR Invalid stream ID specified as stream command argument"),
            ("s g bob 0 - COUNT 0", "ERR COUNT must be > 0"),
            ("s g bob 0 - COUNT x", "ERR COUNT must be > 0"),
            (f"s g bob 0 - COUNT {MAX_COUNT + 1}", "ERR COUNT must be > 0"),
            ("s g bob 0 - COUNT", "ERR syntax error"),
            ("s g bob 0 - NOSUCH", "ERR syntax error"),
        ],
    )
    def test_refusals_change_nothing(self, filled: Any, words: str, error: str) -> None:
        before = pending(filled)
        assert filled.send_line(f"XAUTOCLAIM {words}") == f"-{error}"
        assert pending(filled) == before

    def test_the_greatest_count_takes_no_memory(self, filled: Any) -> None:
        assert len(filled.send_line(f"XAUTOCLAIM s g bob 0 - COUNT {MAX_COUNT}")[1]) == 4
