"""XNACK: no server here knows it, so the rules of Redis 8.8 are here, each as a test."""

from __future__ import annotations

from typing import Any

import pytest

from storage.stream import rewrite

LLONG_MAX = 2**63 - 1
BAD_ID = "ERR Invalid stream ID specified as stream command argument"
NOTHING = "nothing has been answered"


@pytest.fixture
def given(server: Any) -> Any:
    """The stream s has 1-0 .. 5-0. alice of the group g has 1-0 to 3-0, bob has 4-0, for 1 s."""
    for ms in range(1, 6):
        server.send("XADD", "s", f"{ms}-0", "n", ms)
    server.send_line("XGROUP CREATE s g 0")
    server.send_line("XREADGROUP GROUP g alice COUNT 3 STREAMS s >")
    server.send_line("XREADGROUP GROUP g bob COUNT 1 STREAMS s >")
    server.advance(1000)
    server.logged()
    return server


def pending(server: Any) -> dict[int, tuple[bytes, int, int]]:
    """The pending entries of g: ms -> (consumer, idle ms, number of deliveries)."""
    rows = server.send_line("XPENDING s g - + 100")
    return {int(row[0].split(b"-")[0]): tuple(row[1:]) for row in rows}


def group_info(server: Any) -> dict[bytes, Any]:
    info = server.send_line("XINFO STREAM s FULL")
    group = dict(zip(info[::2], info[1::2], strict=True))[b"groups"][0]
    return dict(zip(group[::2], group[1::2], strict=True))


class TestWords:
    @pytest.mark.parametrize(
        ("line", "error"),
        [
            ("XNACK s", "ERR wrong number of arguments for 'xnack' command"),
            ("XNACK s g FAIL IDS 1", "ERR wrong number of arguments for 'xnack' command"),
            ("XNACK s h FAIL IDS 1 1", "NOGROUP No such key 's' or consumer group 'h'"),
            ("XNACK t g FAIL IDS 1 1", "NOGROUP No such key 't' or consumer group 'g'"),
            ("XNACK s g LOUD IDS 1 1", "ERR mode must be SILENT, FAIL, or FATAL"),
            ("XNACK s g FAIL ID 1 1", "ERR syntax error, expected IDS keyword"),
            ("XNACK s g FAIL IDS 0 1", "ERR numids must be a positive integer"),
            ("XNACK s g FAIL IDS -1 1", "ERR numids must be a positive integer"),
            ("XNACK s g FAIL IDS x 1", "ERR numids must be a positive integer"),
            ("XNACK s g FAIL IDS 2 1", "ERR number of IDs doesn't match numids"),
            ("XNACK s g FAIL IDS 1 1 2", "ERR Unrecognized XNACK option '2'"),
            ("XNACK s g FAIL IDS 1 x", BAD_ID),
            ("XNACK s g FAIL IDS 2 1 x", BAD_ID),
            ("XNACK s g FAIL IDS 1 1 FORCED", "ERR Unrecognized XNACK option 'FORCED'"),
            ("XNACK s g FAIL IDS 1 1 RETRYCOUNT", "ERR Unrecognized XNACK option 'RETRYCOUNT'"),
            ("XNACK s g FAIL IDS 1 1 RETRYCOUNT x", "ERR Invalid RETRYCOUNT value, must be >= 0"),
            ("XNACK s g FAIL IDS 1 1 RETRYCOUNT -1", "ERR Invalid RETRYCOUNT value, must be >= 0"),
        ],
    )  # fmt: skip
    def test_wrong_ones_change_nothing(self, given: Any, line: str, error: str) -> None:
        before = pending(given)
        assert given.send_line(line) == f"-{error}"
        assert pending(given) == before
        assert given.logged() == []

    def test_another_type_is_refused(self, given: Any) -> None:
        given.send_line("SET k v")
        assert given.send_line("XNACK k g FAIL IDS 1 1").startswith("-WRONGTYPE")

    @pytest.mark.parametrize(
        ("words", "count"),
        [
            ("SILENT IDS 1 1", 1),
            ("FAIL IDS 1 1", 2),
            ("FATAL IDS 1 1", LLONG_MAX),
            ("silent ids 1 1 retrycount 5", 5),
            ("FATAL IDS 1 1 RETRYCOUNT 0", 0),
            ("FAIL IDS 1 1 FORCE RETRYCOUNT 7", 7),
            ("FAIL IDS 1 1 RETRYCOUNT 9223372036854775807", LLONG_MAX),
        ],
    )
    def test_the_mode_or_retrycount_says_what_becomes_of_the_count(
        self, given: Any, words: str, count: int
    ) -> None:
        given.send_line("XCLAIM s g alice 0 1")
        assert given.send_line(f"XNACK s g {words}") == 1
        assert pending(given)[1] == (b"", -1, count)

    def test_silent_does_not_count_below_zero(self, given: Any) -> None:
        given.send_line("XNACK s g SILENT IDS 1 1")
        given.send_line("XNACK s g SILENT IDS 1 1")
        assert pending(given)[1] == (b"", -1, 0)

    def test_a_fatal_count_stays_what_it_is(self, given: Any) -> None:
        given.send_line("XNACK s g FATAL IDS 1 1")
        given.send_line("XCLAIM s g bob 0 1")
        assert pending(given)[1] == (b"bob", 0, LLONG_MAX)


class TestWhatIsReleased:
    def test_14797_any_client_releases_entries_of_any_consumer(self, given: Any) -> None:
        assert given.send_line("XNACK s g FAIL IDS 4 1 4 5 9") == 2
        assert pending(given) == {
            1: (b"", -1, 1), 2: (b"alice", 1000, 1), 3: (b"alice", 1000, 1), 4: (b"", -1, 1),
        }  # fmt: skip

    def test_force_makes_entries_of_the_stream_pending(self, given: Any) -> None:
        assert given.send_line("XNACK s g FAIL IDS 3 5 9 1 FORCE") == 2
        assert given.send_line("XNACK s g FATAL IDS 1 5 FORCE RETRYCOUNT 3") == 1
        assert pending(given)[5] == (b"", -1, 3)
        given.send_line("XADD s 6-0 n 6")
        given.send_line("XADD s 7-0 n 7")
        assert given.send_line("XNACK s g FATAL IDS 1 6 FORCE") == 1
        assert given.send_line("XNACK s g SILENT IDS 1 7 FORCE") == 1
        assert pending(given)[6] == (b"", -1, LLONG_MAX)
        assert pending(given)[7] == (b"", -1, 0)

    def test_an_entry_that_is_gone_is_released_but_not_forced(self, given: Any) -> None:
        given.send_line("XDEL s 1 5")
        assert given.send_line("XNACK s g FAIL IDS 2 1 5 FORCE") == 1

    def test_they_are_claimed_first_in_the_order_of_their_release(self, given: Any) -> None:
        given.send_line("XNACK s g FAIL IDS 2 4 2")
        given.send_line("XNACK s g FAIL IDS 1 3")
        given.send_line("XNACK s g FAIL IDS 1 4")  # once more: after the others
        reply = given.send_line("XREADGROUP GROUP g carl CLAIM 999999 COUNT 4 STREAMS s >")
        assert [row[0] for row in reply[0][1]] == [b"2-0", b"3-0", b"4-0", b"5-0"]
        assert [row[2:] for row in reply[0][1]] == [[given.now_ms, 1]] * 3 + [[0, 0]]
        assert pending(given)[3] == (b"carl", 0, 2)
        reply = given.send_line("XREADGROUP GROUP g carl CLAIM 1000 STREAMS s >")
        assert reply == [[b"s", [[b"1-0", [b"n", b"1"], 1000, 1]]]]

    def test_xclaim_and_xautoclaim_take_them_whatever_they_ask_for(self, given: Any) -> None:
        given.send_line("XNACK s g FAIL IDS 3 1 2 4")
        assert given.send_line("XCLAIM s g carl 999999 1 3 JUSTID") == [b"1-0"]
        reply = given.send_line("XAUTOCLAIM s g carl 999999 0 JUSTID")
        assert reply == [b"0-0", [b"2-0", b"4-0"], []]
        assert {row[0] for row in pending(given).values()} == {b"alice", b"carl"}

    def test_they_can_be_acknowledged(self, given: Any) -> None:
        given.send_line("XNACK s g FAIL IDS 3 1 2 4")
        assert given.send_line("XACK s g 1") == 1
        assert given.send_line("XACKDEL s g ACKED IDS 1 2") == [1]
        assert given.send_line("XDELEX s DELREF IDS 1 4") == [1]
        assert pending(given) == {3: (b"alice", 1000, 1)}

    def test_a_waiter_that_claims_is_served_at_once(self, given: Any) -> None:
        given.send_line("XREADGROUP GROUP g bob STREAMS s >")
        plain, claims = given.client(), given.client()
        plain.send_line("XREADGROUP GROUP g x BLOCK 0 STREAMS s >")
        claims.send_line("XREADGROUP GROUP g y BLOCK 0 CLAIM 999999 STREAMS s >")
        given.send_line("XNACK s g FAIL IDS 1 3")
        assert plain.reply() == NOTHING
        assert claims.reply() == [[b"s", [[b"3-0", [b"n", b"3"], given.now_ms, 1]]]]

    def test_14726_a_group_that_is_set_back_counts_from_one_again(self, given: Any) -> None:
        given.send_line("XNACK s g FATAL IDS 1 1")
        given.send_line("XGROUP SETID s g 0")
        given.send_line("XREADGROUP GROUP g carl COUNT 1 STREAMS s >")
        assert pending(given)[1] == (b"carl", 0, 1)


class TestNobody:
    """14797: whatever looks at the consumer of a pending entry bears that there is none."""

    @pytest.fixture
    def released(self, given: Any) -> Any:
        given.send_line("XNACK s g FAIL IDS 2 3 1")
        return given

    def test_xpending_counts_them_in_the_total_only(self, released: Any) -> None:
        reply = released.send_line("XPENDING s g")
        assert reply == [4, b"1-0", b"4-0", [[b"alice", b"1"], [b"bob", b"1"]]]

    def test_xpending_of_a_consumer_is_without_them(self, released: Any) -> None:
        assert released.send_line("XPENDING s g - + 9 alice") == [[b"2-0", b"alice", 1000, 1]]
        released.send("XGROUP", "CREATECONSUMER", "s", "g", "")
        assert released.send("XPENDING", "s", "g", "-", "+", 9, "") == []

    @pytest.mark.parametrize(("idle", "found"), [(1000, [1, 2, 3, 4]), (1001, [1, 3])])
    def test_they_have_been_idle_for_longer_than_anything(
        self, released: Any, idle: int, found: list[int]
    ) -> None:
        rows = released.send_line(f"XPENDING s g IDLE {idle} - + 9")
        assert [int(row[0].split(b"-")[0]) for row in rows] == found

    def test_xinfo_counts_them(self, released: Any) -> None:
        info = group_info(released)
        assert list(info)[4:7] == [b"pel-count", b"nacked-count", b"pending"]
        assert (info[b"pel-count"], info[b"nacked-count"]) == (4, 2)
        assert info[b"pending"][0] == [b"1-0", b"", 0, 1]
        consumers = released.send_line("XINFO CONSUMERS s g")
        assert [row[3] for row in consumers] == [1, 1]

    def test_delconsumer_leaves_them(self, released: Any) -> None:
        assert released.send_line("XGROUP DELCONSUMER s g alice") == 1
        assert pending(released) == {1: (b"", -1, 1), 3: (b"", -1, 1), 4: (b"bob", 1000, 1)}

    def test_the_history_of_a_consumer_is_without_them(self, released: Any) -> None:
        reply = released.send_line("XREADGROUP GROUP g alice STREAMS s 0")
        assert [row[0] for row in reply[0][1]] == [b"2-0"]

    def test_claims_drop_those_whose_entry_is_gone(self, released: Any) -> None:
        released.send_line("XDEL s 1 3")
        released.logged()
        assert released.send_line("XCLAIM s g bob 0 1") == []
        assert released.send_line("XAUTOCLAIM s g bob 0 0 JUSTID")[2] == [b"3-0"]
        assert b"XACK s g 1-0" in (log := released.logged())
        assert b"XACK s g 3-0" in log

    def test_a_copy_has_them_in_their_order(self, released: Any) -> None:
        released.send_line("COPY s t")
        reply = released.send_line("XREADGROUP GROUP g x CLAIM 99999 COUNT 2 STREAMS t >")
        assert [row[0] for row in reply[0][1]] == [b"3-0", b"1-0"]

    def test_dump_and_restore_keep_them(self, released: Any) -> None:
        dump = released.send("DUMP", "s")
        assert dump[0] == 21
        released.send("RESTORE", "t", 0, dump)
        reply = released.send_line("XREADGROUP GROUP g x CLAIM 99999 COUNT 2 STREAMS t >")
        assert [row[0] for row in reply[0][1]] == [b"3-0", b"1-0"]
        released.send_line("XCLAIM s g bob 0 1 3")
        assert released.send("DUMP", "s")[0] == 21  # which Redis 7.2 loads


class TestLog:
    def test_the_counts_are_logged_that_the_entries_have(self, given: Any) -> None:
        given.send_line("XREADGROUP GROUP g alice COUNT 1 STREAMS s 0")  # counts, and is not logged
        given.send_line("XNACK s g SILENT IDS 4 1 2 4 9")
        assert given.transactions() == [
            [
                b"XNACK s g FAIL IDS 1 1-0 RETRYCOUNT 1 FORCE",
                b"XNACK s g FAIL IDS 2 2-0 4-0 RETRYCOUNT 0 FORCE",
            ]
        ]

    def test_no_event_tells_of_it(self, given: Any) -> None:
        given.send_line("CONFIG SET notify-keyspace-events KEA")
        hearer = given.client()
        hearer.send_line("PSUBSCRIBE *")
        given.send_line("XNACK s g FATAL IDS 1 1")
        hearer.reply()
        assert hearer.reply() == NOTHING

    def test_the_log_makes_the_same_of_a_copy(self, given: Any) -> None:
        given.send_line("COPY s t")
        given.logged()
        for line in ("XNACK s g FATAL IDS 2 4 1", "XNACK s g FAIL IDS 1 5 FORCE"):
            given.send_line(line)
        for line in given.logged():
            given.send(*line.replace(b" s ", b" t ").split())
        for line in ("XPENDING {} g - + 9", "XINFO STREAM {} FULL"):
            assert given.send_line(line.format("s")) == given.send_line(line.format("t"))

    def test_a_rewritten_log_has_them_in_their_order(self, given: Any) -> None:
        for line in (
            "XREADGROUP GROUP g alice STREAMS s >",
            "XNACK s g FATAL IDS 1 5",
            "XNACK s g FAIL IDS 2 2 1",
            "XCLAIM s g carl 0 3 IDLE 500000 RETRYCOUNT 9223372036854775807",
        ):
            given.send_line(line)
        stream = given.state.databases[0].peek(b"s")
        words = list(rewrite.commands(b"t", stream))
        assert [argv[1:] for argv in words if argv[0] == b"XNACK"] == [
            [b"t", b"g", b"FAIL", b"IDS", b"1", b"5-0", b"RETRYCOUNT", b"9223372036854775807",
             b"FORCE"],
            [b"t", b"g", b"FAIL", b"IDS", b"2", b"2-0", b"1-0", b"RETRYCOUNT", b"1", b"FORCE"],
        ]  # fmt: skip
        claims = [argv for argv in words if argv[0] == b"XCLAIM"]
        assert [argv[5] for argv in claims] == [b"3-0", b"4-0"]  # as they were delivered
        for argv in words:
            given.send(*argv)
        assert given.send_line("XPENDING s g - + 9") == given.send_line("XPENDING t g - + 9")
        twin = given.state.databases[0].peek(b"t")
        order = [[entry.ms for entry in value.groups[b"g"].by_time] for value in (stream, twin)]
        assert order == [[5, 2, 1, 3, 4]] * 2

    def test_watching_clients_are_not_told(self, given: Any) -> None:
        given.send_line("WATCH s")
        given.client().send_line("XNACK s g FAIL IDS 1 1")
        given.send_line("MULTI")
        assert given.send_line("EXEC") == []
