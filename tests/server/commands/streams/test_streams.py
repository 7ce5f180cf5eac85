"""XADD, XLEN, XRANGE, XREVRANGE, XDEL, XTRIM, XSETID."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

TOP = "18446744073709551615-18446744073709551615"
BAD_ID = "-ERR Invalid stream ID specified as stream command argument"
TOO_SMALL = "-ERR The ID specified in XADD is equal or smaller than the target stream top item"


def fill(server: Any, count: int, key: str = "s") -> None:
    """Add the entries 1-0, 2-0, .. with the field n."""
    for ms in range(1, count + 1):
        server.send("XADD", key, f"{ms}-0", "n", ms)
    server.logged()


def ids(server: Any, key: str = "s") -> list[bytes]:
    return [entry[0] for entry in server.send("XRANGE", key, "-", "+")]


class TestXadd:
    def test_answers_the_id_and_adds_the_fields(self, server: Any) -> None:
        assert server.send_line("XADD s 5-1 a 1 b two a 3") == b"5-1"
        assert server.send_line("XRANGE s - +") == [
            [b"5-1", [b"a", b"1", b"b", b"two", b"a", b"3"]]
        ]

    def test_takes_the_time_as_the_id(self, server: Any) -> None:
        assert server.send_line("XADD s * a 1") == b"%d-0" % server.now_ms
        assert server.send_line("XADD s * a 1") == b"%d-1" % server.now_ms
        server.now_ms -= 1000
        assert server.send_line("XADD s * a 1") == b"%d-2" % (server.now_ms + 1000)

    def test_takes_the_next_sequence_number_of_a_millisecond(self, server: Any) -> None:
        assert server.send_line("XADD s 0-* a 1") == b"0-1"
        assert server.send_line("XADD s 7-* a 1") == b"7-0"
        assert server.send_line("XADD s 7-* a 1") == b"7-1"
        assert server.send_line("XADD s 6-* a 1") == TOO_SMALL

    def test_an_id_without_a_sequence_number_has_0(self, server: Any) -> None:
        assert server.send_line("XADD s 7 a 1") == b"7-0"

    @pytest.mark.parametrize("line", ["XADD s 5-0 a 1", "XADD s 4-9 a 1", "XADD s 5 a 1"])
    def test_refuses_an_id_that_is_not_greater_than_the_last_one(
        self, server: Any, line: str
    ) -> None:
        server.send_line("XADD s 5-0 a 1")
        assert server.send_line(line) == TOO_SMALL
        assert ids(server) == [b"5-0"]

    @pytest.mark.parametrize("word", ["x", "-", "+", "(5-0", "1-2-3", "-5", "5-", "$", "1-x"])
    def test_refuses_a_bad_id(self, server: Any, word: str) -> None:
        assert server.send("XADD", "s", word, "a", "1") == BAD_ID
        assert server.send_line("EXISTS s") == 0

    def test_refuses_the_id_0_0(self, server: Any) -> None:
        error = "-ERR The ID specified in XADD must be greater than 0-0"
        assert server.send_line("XADD s 0-0 a 1") == error
        assert server.send_line("XADD s 0 a 1") == error
        assert server.send_line("EXISTS s") == 0

    @pytest.mark.parametrize("word", ["*", "5-5", "18446744073709551615-*"])
    def test_refuses_every_id_after_the_greatest_one(self, server: Any, word: str) -> None:
        server.send("XADD", "s", TOP, "a", "1")
        error = "-ERR The stream has exhausted the last possible ID, unable to add more items"
        assert server.send("XADD", "s", word, "a", "1") == error

    @pytest.mark.parametrize(
        "line",
        ["XADD s * a", "XADD s * a 1 b", "XADD s MAXLEN 5 *", "XADD s NOMKSTREAM * a",
         "XADD s MAXLEN = 5"],
    )  # fmt: skip
    def test_needs_pairs_of_field_and_value(self, server: Any, line: str) -> None:
        error = "-ERR wrong number of arguments for 'xadd' command"
        assert server.send_line(line) == error

    def test_nomkstream_makes_no_key(self, server: Any) -> None:
        assert server.send_line("XADD s NOMKSTREAM * a 1") is None
        assert server.send_line("EXISTS s") == 0
        server.send_line("XADD s 1-1 a 1")
        assert server.send_line("XADD s NOMKSTREAM 2-1 a 1") == b"2-1"

    def test_refuses_a_key_of_another_type(self, server: Any) -> None:
        server.send_line("SET s x")
        wrong = "-WRONGTYPE Operation against a key holding the wrong kind of value"
        assert server.send_line("XADD s * a 1") == wrong

    def test_trims_after_adding(self, server: Any) -> None:
        fill(server, 5)
        assert server.send_line("XADD s MAXLEN 3 6-0 n 6") == b"6-0"
        assert ids(server) == [b"4-0", b"5-0", b"6-0"]
        assert server.send_line("XADD s MINID 6 7-0 n 7") == b"7-0"
        assert ids(server) == [b"6-0", b"7-0"]
        assert server.send_line("XADD s MAXLEN = 0 8-0 n 8") == b"8-0"
        assert server.send_line("XLEN s") == 0
        assert server.send_line("EXISTS s") == 1

    def test_approximate_trimming_removes_whole_nodes(
        self, make_server: Callable[..., Any]
    ) -> None:
        server = make_server(stream_node_max_entries=2)
        fill(server, 5)
        server.send_line("XADD s MAXLEN ~ 3 6-0 n 6")
        assert ids(server) == [b"3-0", b"4-0", b"5-0", b"6-0"]

    def test_wakes_a_blocked_reader(self, server: Any) -> None:
        reader = server.client()
        reader.send_line("XREAD BLOCK 0 STREAMS s $")
        server.send_line("XADD s 1-0 a 1")
        assert reader.reply() == [[b"s", [[b"1-0", [b"a", b"1"]]]]]

    def test_logs_the_id_it_chose(self, server: Any) -> None:
        server.send_line("XADD s * a 1")
        server.send_line("XADD s 9000000000000-* a 1")
        server.send_line("XADD s 9000000000001-1 a 1")
        assert server.logged() == [
            b"XADD s %d-0 a 1" % server.now_ms,
            b"XADD s 9000000000000-0 a 1",
            b"XADD s 9000000000001-1 a 1",
        ]

    def test_approximate_trimming_is_logged_as_exact(self, make_server: Callable[..., Any]) -> None:
        server = make_server(stream_node_max_entries=2)
        fill(server, 5)
        server.send_line("XADD s MAXLEN ~ 3 LIMIT 0 6-0 n 6")
        server.send_line("XADD s MINID ~ 4 7-0 n 7")
        server.send_line("XADD s NOMKSTREAM MAXLEN 2 * n 8")
        assert server.logged() == [
            b"XADD s MAXLEN = 4 6-0 n 6",
            b"XADD s MINID = 3-0 7-0 n 7",
            b"XADD s NOMKSTREAM MAXLEN 2 %d-0 n 8" % server.now_ms,
        ]

    def test_approximate_trimming_that_left_nothing_is_logged_as_exact(
        self, make_server: Callable[..., Any]
    ) -> None:
        server = make_server(stream_node_max_entries=1)
        fill(server, 2)
        server.send_line("XADD s MINID ~ 9 3-0 n 3")
        assert server.send_line("XLEN s") == 0
        assert server.logged() == [b"XADD s MINID = %b 3-0 n 3" % TOP.encode()]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ("MAXLEN -1", "-ERR The MAXLEN argument must be >= 0."),
        ("MAXLEN x", "-ERR value is not an integer or out of range"),
        ("MINID x", BAD_ID),
        ("MINID -", BAD_ID),
        ("MAXLEN ~ 5 LIMIT -1", "-ERR The LIMIT argument must be >= 0."),
        (
            "MAXLEN 5 LIMIT 1",
            "-ERR syntax error, LIMIT cannot be used without the special ~ option",
        ),
        (
            "MAXLEN 5 MINID 1",
            "-ERR syntax error, MAXLEN and MINID options at the same time are not compatible",
        ),
        (
            "LIMIT 1",
            "-ERR syntax error, LIMIT cannot be used without specifying a trimming strategy",
        ),
    ],
)
def test_xadd_and_xtrim_check_their_trimming_options(server: Any, options: str, error: str) -> None:
    fill(server, 1)
    assert server.send_line(f"XADD s {options} * a 1") == error
    if len(options.split()) > 2 or not options.startswith("LIMIT"):
        assert server.send_line(f"XTRIM s {options}") == error
    assert server.send_line("XLEN s") == 1


class TestRanges:
    @pytest.mark.parametrize(
        ("start", "end", "expected"),
        [
            ("-", "+", [1, 2, 3]),
            ("2", "3", [2, 3]),
            ("(1-0", "(3-0", [2]),
            ("(1", "+", [2, 3]),
            ("-", "2", [1, 2]),
            ("4", "+", []),
            ("3", "1", []),
            ("+", "-", []),
        ],
    )
    def test_bounds(self, server: Any, start: str, end: str, expected: list[int]) -> None:
        fill(server, 3)
        entries = [[b"%d-0" % ms, [b"n", b"%d" % ms]] for ms in expected]
        assert server.send("XRANGE", "s", start, end) == entries
        assert server.send("XREVRANGE", "s", end, start) == entries[::-1]

    def test_an_end_without_a_sequence_number_includes_its_whole_millisecond(
        self, server: Any
    ) -> None:
        server.send_line("XADD s 5-7 a 1")
        assert len(server.send_line("XRANGE s 5 5")) == 1

    @pytest.mark.parametrize(
        ("line", "error"),
        [
            (f"XRANGE s ({TOP} +", "-ERR invalid start ID for the interval"),
            ("XRANGE s - (0-0", "-ERR invalid end ID for the interval"),
            ("XREVRANGE s (0-0 -", "-ERR invalid end ID for the interval"),
            ("XRANGE s (- +", BAD_ID),
            ("XRANGE s - (+", BAD_ID),
            ("XRANGE s ( +", BAD_ID),
            ("XRANGE s x +", BAD_ID),
            ("XRANGE s - + COUNT", "-ERR syntax error"),
            ("XRANGE s - + LIMIT 5", "-ERR syntax error"),
            ("XRANGE s - + COUNT x", "-ERR value is not an integer or out of range"),
        ],
    )
    def test_refusals(self, server: Any, line: str, error: str) -> None:
        assert server.send_line(line) == error

    def test_count_limits_the_range(self, server: Any) -> None:
        fill(server, 3)
        assert len(server.send_line("XRANGE s - + COUNT 2")) == 2
        assert server.send_line("XREVRANGE s + - COUNT 1") == [[b"3-0", [b"n", b"3"]]]
        assert server.owner.raw("XRANGE", "s", "-", "+", "COUNT", "0") == b"*-1\r\n"
        assert server.owner.raw("XRANGE", "s", "-", "+", "COUNT", "-5") == b"*-1\r\n"

    def test_a_missing_key_is_an_empty_stream(self, server: Any) -> None:
        assert server.send_line("XRANGE nokey - +") == []
        assert server.send_line("XRANGE nokey - + COUNT 0") == []
        assert server.send_line("XLEN nokey") == 0

    def test_fields_are_an_array_in_resp3_too(self, server: Any) -> None:
        fill(server, 1)
        server.send_line("HELLO 3")
        assert server.owner.raw("XRANGE", "s", "-", "+") == (
            b"*1\r\n*2\r\n$3\r\n1-0\r\n*2\r\n$1\r\nn\r\n$1\r\n1\r\n"
        )


class TestXdel:
    def test_answers_how_many_entries_were_deleted(self, server: Any) -> None:
        fill(server, 3)
        assert server.send_line("XDEL s 1-0 2 7-7 1-0") == 2
        assert ids(server) == [b"3-0"]
        assert server.logged() == [b"XDEL s 1-0 2 7-7 1-0"]

    def test_a_bad_id_deletes_nothing(self, server: Any) -> None:
        fill(server, 3)
        assert server.send_line("XDEL s 1-0 x") == BAD_ID
        assert server.send_line("XLEN s") == 3

    def test_an_xdel_that_deletes_nothing_is_not_logged(self, server: Any) -> None:
        fill(server, 3)
        assert server.send_line("XDEL s 7-7") == 0
        assert server.send_line("XDEL nokey 7-7") == 0
        assert server.logged() == []

    def test_an_emptied_stream_is_kept(self, server: Any) -> None:
        fill(server, 1)
        server.send_line("XDEL s 1-0")
        assert server.send_line("EXISTS s") == 1


class TestXtrim:
    def test_answers_how_many_entries_were_removed(self, server: Any) -> None:
        fill(server, 6)
        assert server.send_line("XTRIM s MAXLEN 4") == 2
        assert server.send_line("XTRIM s minid = 5") == 2
        assert server.send_line("XTRIM s MAXLEN 4") == 0
        assert server.send_line("XTRIM nokey MAXLEN 4") == 0
        assert ids(server) == [b"5-0", b"6-0"]
        assert server.logged() == [b"XTRIM s MAXLEN 4", b"XTRIM s minid = 5"]

    def test_approximate_trimming_is_logged_as_exact(self, make_server: Callable[..., Any]) -> None:
        server = make_server(stream_node_max_entries=2)
        fill(server, 6)
        assert server.send_line("XTRIM s MAXLEN ~ 3 LIMIT 1") == 0
        assert server.send_line("XTRIM s MAXLEN ~ 3 LIMIT 3") == 2
        assert server.send_line("XTRIM s MINID ~ 6") == 2
        assert server.logged() == [b"XTRIM s MAXLEN = 4", b"XTRIM s MINID = 5-0"]

    @pytest.mark.parametrize(
        ("line", "error"),
        [
            ("XTRIM s LIMIT 0", "-ERR syntax error, XTRIM must be called with a trimming strategy"),
            ("XTRIM s NOSUCH 5", "-ERR syntax error"),
            ("XTRIM s MAXLEN 5 NOSUCH", "-ERR syntax error"),
        ],
    )
    def test_refusals(self, server: Any, line: str, error: str) -> None:
        assert server.send_line(line) == error


class TestXsetid:
    def test_sets_ids_and_counters(self, server: Any) -> None:
        fill(server, 2)
        assert server.send_line("XSETID s 9-9 ENTRIESADDED 100 MAXDELETEDID 5-5") == b"OK"
        report = server.send_line("XINFO STREAM s")
        info = dict(zip(report[::2], report[1::2], strict=True))
        assert info[b"last-generated-id"] == b"9-9"
        assert info[b"max-deleted-entry-id"] == b"5-5"
        assert info[b"entries-added"] == 100
        assert server.logged() == [b"XSETID s 9-9 ENTRIESADDED 100 MAXDELETEDID 5-5"]

    @pytest.mark.parametrize(
        ("words", "error"),
        [
            ("nokey 5-5", "-ERR no such key"),
            ("s x", BAD_ID),
            ("s 1-0", "The ID specified in XSETID is smaller than the target stream top item"),
            ("s 0-1", "The ID specified in XSETID is smaller than current max_deleted_entry_id"),
            ("s 5-5 ENTRIESADDED -1", "entries_added must be positive"),
            (
                "s 5-5 ENTRIESADDED 1",
                "The entries_added specified in XSETID is smaller than the target stream length",
            ),
            (
                "s 5-5 MAXDELETEDID 5-6",
                "The ID specified in XSETID is smaller than the provided max_deleted_entry_id",
            ),
            ("s 5-5 NOSUCH 1", "syntax error"),
            ("s 5-5 ENTRIESADDED", "syntax error"),
        ],
    )
    def test_refusals(self, server: Any, words: str, error: str) -> None:
        fill(server, 3)
        server.send_line("XDEL s 1-0")
        expected = error if error.startswith("-") else f"-ERR {error}"
        assert server.send_line(f"XSETID {words}") == expected
