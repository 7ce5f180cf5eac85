"""XREAD and XREADGROUP: replies, pending entries, blocking, and what is logged."""

from __future__ import annotations

import random
from typing import Any

import pytest

from storage.stream.stream_id import U64_MAX
from tests.server.conftest import NOTHING


@pytest.fixture
def filled(server: Any) -> Any:
    """A server with the stream s (1-0, 2-0, 3-0) and its group g, which has read nothing."""
    for ms in (1, 2, 3):
        server.send("XADD", "s", f"{ms}-0", "n", ms)
    server.send_line("XGROUP CREATE s g 0")
    server.logged()
    return server


def entry(ms: int) -> list[Any]:
    return [b"%d-0" % ms, [b"n", b"%d" % ms]]


class TestXread:
    def test_answers_the_entries_after_the_ids(self, filled: Any) -> None:
        filled.send_line("XADD t 7-0 n 7")
        assert filled.send_line("XREAD STREAMS s 1") == [[b"s", [entry(2), entry(3)]]]
        assert filled.send_line("XREAD COUNT 1 STREAMS s t nokey 1-0 0 0") == [
            [b"s", [entry(2)]],
            [b"t", [entry(7)]],
        ]

    def test_leaves_out_streams_with_nothing_new(self, filled: Any) -> None:
        filled.send_line("XADD t 7-0 n 7")
        assert filled.send_line("XREAD STREAMS s t 3-0 0") == [[b"t", [entry(7)]]]

    @pytest.mark.parametrize("count", ["0", "-1"])
    def test_a_count_below_one_means_all(self, filled: Any, count: str) -> None:
        assert len(filled.send("XREAD", "COUNT", count, "STREAMS", "s", "0")[0][1]) == 3

    @pytest.mark.parametrize("words", ["s 3", "s $", "nokey 0", "nokey $", "nokey +"])
    def test_no_entries_at_all_are_a_null_array(self, filled: Any, words: str) -> None:
        assert filled.owner.raw("XREAD", "STREAMS", *words.split()) == b"*-1\r\n"

    def test_plus_is_the_last_entry_that_was_not_deleted(self, filled: Any) -> None:
        assert filled.send_line("XREAD STREAMS s +") == [[b"s", [entry(3)]]]
        filled.send_line("XDEL s 3-0")
        assert filled.send_line("XREAD STREAMS s +") == [[b"s", [entry(2)]]]

    def test_resp3_clients_get_a_map(self, filled: Any) -> None:
        filled.send_line("HELLO 3")
        assert filled.owner.raw("XREAD", "COUNT", "1", "STREAMS", "s", "0") == (
            b"%1\r\n$1\r\ns\r\n*1\r\n*2\r\n$3\r\n1-0\r\n*2\r\n$1\r\nn\r\n$1\r\n1\r\n"
        )
        assert filled.owner.raw("XREAD", "STREAMS", "s", "$") == b"_\r\n"

    def test_the_same_stream_may_be_named_twice(self, filled: Any) -> None:
        assert filled.send_line("XREAD COUNT 1 STREAMS s s 0 1") == [
            [b"s", [entry(1)]],
            [b"s", [entry(2)]],
        ]

    @pytest.mark.parametrize(
        ("line", "error"),
        [
            (
                "XREAD STREAMS s t 0",
                "ERR Unbalanced 'xread' list of streams: for each stream key an ID, '+', or '$' "
                "must be specified.",
            ),
            (
                "XREAD GROUP g c STREAMS s 0",
                "ERR The GROUP option is only supported by XREADGROUP. You called XREAD instead.",
            ),
            (
                "XREAD NOACK STREAMS s 0",
                "ERR The NOACK option is only supported by XREADGROUP. You called XREAD instead.",
            ),
            (
                "XREAD STREAMS s >",
                "ERR The > ID can be specified only when calling XREADGROUP using the GROUP "
                "<group> <consumer> option.",
            ),
            ("XREAD STREAMS s x", "ERR Invalid stream ID specified as stream command argument"),
            ("XREAD STREAMS s -", "ERR Invalid stream ID specified as stream command argument"),
            ("XREAD COUNT x STREAMS s 0", "ERR value is not an integer or out of range"),
            ("XREAD BLOCK x STREAMS s 0", "ERR timeout is not an integer or out of range"),
            ("XREAD BLOCK -1 STREAMS s 0", "ERR timeout is negative"),
            ("XREAD COUNT 1 BLOCK 5", "ERR syntax error"),
            ("XREAD COUNT 1 STREAMS", "ERR syntax error"),
            ("XREAD NOSUCH 1 STREAMS s 0", "ERR syntax error"),
            (
                "XREAD STREAMS str 0",
                "WRONGTYPE Operation against a key holding the wrong kind of value",
            ),
        ],
    )
    def test_refusals(self, filled: Any, line: str, error: str) -> None:
        filled.send_line("SET str x")
        assert filled.send_line(line) == f"-{error}"


class TestBlocking:
    def test_a_new_entry_ends_the_wait(self, filled: Any) -> None:
        reader = filled.client()
        assert reader.send_line("XREAD BLOCK 1000 STREAMS s t $ $") == NOTHING
        filled.send_line("XADD t 1-0 n 1")
        assert reader.reply() == [[b"t", [entry(1)]]]
        assert not reader.waits

    def test_the_timeout_ends_the_wait(self, filled: Any) -> None:
        reader = filled.client()
        reader.send_line("XREAD BLOCK 1000 STREAMS s $")
        filled.advance(999)
        assert reader.waits
        filled.advance(1)
        assert reader.reply() is None

    def test_dollar_is_the_last_id_at_the_time_of_the_command(self, filled: Any) -> None:
        reader = filled.client()
        reader.send_line("XREAD BLOCK 0 STREAMS s $")
        filled.send_line("MULTI")
        filled.send_line("XADD s 4-0 n 4")
        filled.send_line("XADD s 5-0 n 5")
        filled.send_line("EXEC")
        assert reader.reply() == [[b"s", [entry(4), entry(5)]]]

    def test_plus_blocks_on_a_missing_stream(self, server: Any) -> None:
        reader = server.client()
        assert reader.send_line("XREAD BLOCK 0 STREAMS s +") == NOTHING
        server.send_line("XADD s 1-0 n 1")
        assert reader.reply() == [[b"s", [entry(1)]]]

    def test_plus_gives_only_the_last_of_several_new_entries(self, server: Any) -> None:
        reader = server.client()
        reader.send_line("XREAD BLOCK 0 STREAMS s +")
        for line in ("MULTI", "XADD s 1-0 n 1", "XADD s 2-0 n 2", "EXEC"):
            server.send_line(line)
        assert reader.reply() == [[b"s", [entry(2)]]]

    def test_a_new_entry_that_is_trimmed_at_once_does_not_end_the_wait(self, filled: Any) -> None:
        reader = filled.client()
        reader.send_line("XREAD BLOCK 0 STREAMS s $")
        filled.send_line("XADD s MAXLEN 0 4-0 n 4")
        assert reader.waits
        filled.send_line("XADD s 5-0 n 5")
        assert reader.reply() == [[b"s", [entry(5)]]]

    def test_nothing_blocks_inside_exec(self, filled: Any) -> None:
        filled.send_line("MULTI")
        filled.send_line("XREAD BLOCK 0 STREAMS s $")
        filled.send_line("XREADGROUP GROUP g c BLOCK 0 STREAMS s >")
        filled.send_line("XREADGROUP GROUP g c BLOCK 0 STREAMS s >")
        given = [[b"s", [entry(1), entry(2), entry(3)]]]
        assert filled.send_line("EXEC") == [None, given, None]

    def test_readers_of_a_group_are_served_in_the_order_in_which_they_blocked(
        self, filled: Any
    ) -> None:
        filled.send_line("XREADGROUP GROUP g c STREAMS s >")
        first, second = filled.client(), filled.client()
        first.send_line("XREADGROUP GROUP g a BLOCK 0 STREAMS s >")
        second.send_line("XREADGROUP GROUP g b BLOCK 0 STREAMS s >")
        filled.send_line("XADD s 4-0 n 4")
        assert first.reply() == [[b"s", [entry(4)]]]
        assert second.waits
        filled.send_line("XADD s 5-0 n 5")
        assert second.reply() == [[b"s", [entry(5)]]]

    @pytest.mark.parametrize(
        ("line", "code"),
        [
            ("DEL s", "-NOGROUP"),
            ("FLUSHALL", "-NOGROUP"),
            ("XGROUP DESTROY s g", "-NOGROUP"),
            ("SET s x", "-WRONGTYPE"),
            ("RENAME s elsewhere", "-NOGROUP"),
        ],
    )
    def test_a_blocked_xreadgroup_gets_an_error_when_its_group_goes(
        self, filled: Any, line: str, code: str
    ) -> None:
        filled.send_line("XREADGROUP GROUP g c STREAMS s >")
        reader = filled.client()
        assert reader.send_line("XREADGROUP GROUP g c BLOCK 0 STREAMS s >") == NOTHING
        filled.send_line(line)
        assert reader.reply().startswith(code)

    def test_a_blocked_xread_waits_on_when_its_stream_goes(self, filled: Any) -> None:
        reader = filled.client()
        reader.send_line("XREAD BLOCK 0 STREAMS s $")
        filled.send_line("DEL s")
        filled.send_line("SET s x")
        assert reader.waits

    def test_a_woken_xreadgroup_is_logged_after_the_command_that_woke_it(self, filled: Any) -> None:
        filled.send_line("XREADGROUP GROUP g c STREAMS s >")
        reader = filled.client()
        reader.send_line("XREADGROUP GROUP g c BLOCK 0 STREAMS s >")
        filled.logged()
        filled.send_line("XADD s 4-0 n 4")
        assert filled.logged() == [
            b"XADD s 4-0 n 4",
            b"XCLAIM s g c 0 4-0 TIME %d RETRYCOUNT 1 FORCE JUSTID LASTID 4-0" % filled.now_ms,
            b"XGROUP SETID s g 4-0 ENTRIESREAD 4",
        ]


class TestXreadgroup:
    def test_delivers_each_entry_once(self, filled: Any) -> None:
        assert filled.send_line("XREADGROUP GROUP g a COUNT 2 STREAMS s >") == [
            [b"s", [entry(1), entry(2)]]
        ]
        assert filled.send_line("XREADGROUP GROUP g b STREAMS s >") == [[b"s", [entry(3)]]]
        assert filled.owner.raw("XREADGROUP", "GROUP", "g", "a", "STREAMS", "s", ">") == b"*-1\r\n"
        assert filled.send_line("XPENDING s g") == [3, b"1-0", b"3-0", [[b"a", b"2"], [b"b", b"1"]]]

    def test_noack_leaves_nothing_pending(self, filled: Any) -> None:
        filled.send_line("XREADGROUP GROUP g a NOACK STREAMS s >")
        assert filled.send_line("XPENDING s g")[0] == 0
        report = filled.send_line("XINFO GROUPS s")[0]
        assert report[report.index(b"last-delivered-id") + 1] == b"3-0"
        assert report[report.index(b"entries-read") + 1] == 3

    def test_a_consumer_sees_only_its_own_history(self, filled: Any) -> None:
        filled.send_line("XREADGROUP GROUP g a COUNT 2 STREAMS s >")
        filled.send_line("XREADGROUP GROUP g b STREAMS s >")
        assert filled.send_line("XREADGROUP GROUP g a STREAMS s 0") == [
            [b"s", [entry(1), entry(2)]]
        ]
        assert filled.send_line("XREADGROUP GROUP g a STREAMS s 1-0") == [[b"s", [entry(2)]]]
        assert filled.send_line("XREADGROUP GROUP g a COUNT 1 STREAMS s 0") == [[b"s", [entry(1)]]]
        assert filled.send_line("XREADGROUP GROUP g c STREAMS s 0") == [[b"s", []]]

    def test_history_never_waits(self, filled: Any) -> None:
        assert filled.send_line("XREADGROUP GROUP g a BLOCK 0 STREAMS s 0") == [[b"s", []]]

    def test_history_shows_only_the_id_of_a_deleted_entry(self, filled: Any) -> None:
        filled.send_line("XREADGROUP GROUP g a COUNT 2 STREAMS s >")
        filled.send_line("XDEL s 1-0")
        assert filled.owner.raw(
            "XREADGROUP", "GROUP", "g", "a", "COUNT", "1", "STREAMS", "s", "0"
        ) == (b"*1\r\n*2\r\n$1\r\ns\r\n*1\r\n*2\r\n$3\r\n1-0\r\n*-1\r\n")

    def test_history_counts_as_a_delivery_but_is_not_logged(self, filled: Any) -> None:
        filled.send_line("XREADGROUP GROUP g a COUNT 1 STREAMS s >")
        filled.logged()
        filled.advance(500)
        filled.send_line("XREADGROUP GROUP g a STREAMS s 0")
        assert filled.send_line("XPENDING s g - + 9") == [[b"1-0", b"a", 0, 2]]
        assert filled.logged() == []

    def test_an_entry_that_is_delivered_again_moves_to_the_new_consumer(self, filled: Any) -> None:
        filled.send_line("XREADGROUP GROUP g a STREAMS s >")
        filled.send_line("XGROUP SETID s g 1-0")
        filled.send_line("XREADGROUP GROUP g b COUNT 1 STREAMS s >")
        assert filled.send_line("XPENDING s g") == [3, b"1-0", b"3-0", [[b"a", b"2"], [b"b", b"1"]]]

    def test_all_groups_are_looked_up_before_anything_is_read(self, filled: Any) -> None:
        error = "-NOGROUP No such key 'nokey' or consumer group 'g' in XREADGROUP with GROUP option"
        assert filled.send_line("XREADGROUP GROUP g a STREAMS s nokey > >") == error
        assert filled.send_line("XINFO CONSUMERS s g") == []

    def test_reads_several_streams(self, filled: Any) -> None:
        filled.send_line("XGROUP CREATE t g $ MKSTREAM")
        assert filled.send_line("XREADGROUP GROUP g a COUNT 1 STREAMS s t > >") == [
            [b"s", [entry(1)]]
        ]
        assert filled.send_line("XREADGROUP GROUP g a COUNT 1 STREAMS s t > 0") == [
            [b"s", [entry(2)]],
            [b"t", []],
        ]

    def test_reading_creates_the_consumer_and_sets_its_seen_time(self, filled: Any) -> None:
        filled.send_line("XREADGROUP GROUP g a STREAMS s >")
        filled.logged()
        filled.send_line("XREADGROUP GROUP g b STREAMS s >")
        assert filled.logged() == [b"XGROUP CREATECONSUMER s g b"]
        filled.advance(70)
        assert filled.send_line("XINFO CONSUMERS s g") == [
            [b"name", b"a", b"pending", 3, b"idle", 70, b"inactive", 70],
            [b"name", b"b", b"pending", 0, b"idle", 70, b"inactive", -1],
        ]

    def test_deleted_entries_are_nothing_new(self, filled: Any) -> None:
        filled.send_line("XREADGROUP GROUP g a COUNT 1 STREAMS s >")
        filled.send_line("XDEL s 2-0 3-0")
        filled.logged()
        assert filled.send_line("XREADGROUP GROUP g b STREAMS s >") is None
        assert filled.logged() == [b"XGROUP CREATECONSUMER s g b"]
        filled.send_line("XADD s 5-0 n 5")
        assert filled.send_line("XREADGROUP GROUP g b STREAMS s >") == [
            [b"s", [[b"5-0", [b"n", b"5"]]]]
        ]

    def test_the_greatest_id_stands_for_new_entries(self, filled: Any) -> None:
        greatest = f"{U64_MAX}-{U64_MAX}"
        first = filled.send_line(f"XREADGROUP GROUP g a COUNT 1 STREAMS s {greatest}")
        assert first == [[b"s", [entry(1)]]]
        filled.send_line(f"XGROUP SETID s g {greatest}")
        assert filled.send_line("XREADGROUP GROUP g a STREAMS s >") is None

    def test_logs_every_delivery_and_the_last_id_of_the_group(self, filled: Any) -> None:
        filled.send_line("XREADGROUP GROUP g a COUNT 2 STREAMS s >")
        now = filled.now_ms
        assert filled.logged() == [
            b"XCLAIM s g a 0 1-0 TIME %d RETRYCOUNT 1 FORCE JUSTID LASTID 1-0" % now,
            b"XCLAIM s g a 0 2-0 TIME %d RETRYCOUNT 1 FORCE JUSTID LASTID 2-0" % now,
            b"XGROUP SETID s g 2-0 ENTRIESREAD 2",
        ]
        filled.send_line("XREADGROUP GROUP g n NOACK STREAMS s >")
        assert filled.logged() == [
            b"XGROUP CREATECONSUMER s g n",
            b"XGROUP SETID s g 3-0 ENTRIESREAD 3",
        ]

    @pytest.mark.parametrize(
        ("line", "error"),
        [
            ("XREADGROUP COUNT 5 NOACK STREAMS s >", "ERR Missing GROUP option for XREADGROUP"),
            (
                "XREADGROUP GROUP g a STREAMS s t >",
                "ERR Unbalanced 'xreadgroup' list of streams: for each stream key an ID or '>' "
                "must be specified.",
            ),
            (
                "XREADGROUP GROUP nog a STREAMS s >",
                "NOGROUP No such key 's' or consumer group 'nog' in XREADGROUP with GROUP option",
            ),
            ("XREADGROUP GROUP g a COUNT 1 STREAMS", "ERR syntax error"),
            (
                "XREADGROUP GROUP g a STREAMS s -",
                "ERR Invalid stream ID specified as stream command argument",
            ),
        ],
    )
    def test_refusals(self, filled: Any, line: str, error: str) -> None:
        assert filled.send_line(line) == f"-{error}"

    @pytest.mark.parametrize("word", ["$", "+"])
    def test_dollar_and_plus_are_refused(self, filled: Any, word: str) -> None:
        error = filled.send("XREADGROUP", "GROUP", "g", "a", "STREAMS", "s", word)
        assert error == (
            f"-ERR The {word} ID is meaningless in the context of XREADGROUP: you want to read the "
            "history of this consumer by specifying a proper ID, or use the > ID to get new "
            f"messages. The {word} ID would just return an empty result set."
        )


OPTIONS = ["GROUP g STREAMS", "COUNT 7", "BLOCK 9", "CLAIM 5", "NOACK", "MAXCOUNT 8", "MAXSIZE 999"]


@pytest.mark.parametrize("seed", range(60))
def test_15478_the_keys_that_are_checked_are_those_that_are_read(server: Any, seed: int) -> None:
    """In whatever order the options come, and whatever words their values are."""
    dice = random.Random(seed)
    options = dice.sample(OPTIONS[1:], dice.randint(0, 4)) + OPTIONS[:1]
    dice.shuffle(options)
    group = dice.choice(["g", "STREAMS", "CLAIM", "COUNT"])
    words = " ".join(options).replace("GROUP g", f"GROUP {group}")
    keys = [f"k{number}" for number in range(dice.randint(1, 3))]
    for key in keys:
        server.send("XGROUP", "CREATE", key, group, 0, "MKSTREAM")
        server.send("XADD", key, "1-0", "a", 1)
    argv = ["XREADGROUP", *words.split(), "STREAMS", *keys, *[">"] * len(keys)]
    assert server.send("COMMAND", "GETKEYS", *argv) == [key.encode() for key in keys]
    assert [key for key, _ in server.send(*argv)] == [key.encode() for key in keys]
