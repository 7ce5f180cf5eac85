"""XCOUNT, XNTH, XSPLIT and XINFO GROUPS EXACT."""

from __future__ import annotations

from typing import Any

import pytest

SYNTAX = "-ERR syntax error"
NOT_AN_INTEGER = "-ERR value is not an integer or out of range"
BAD_ID = "-ERR Invalid stream ID specified as stream command argument"
BAD_PARTS = "-ERR parts must be between 1 and 10000"


@pytest.fixture
def filled(server: Any) -> Any:
    """The stream s has 1-1, 2-1 .. 100-1 but for 50-1, three entries a node; t has text."""
    server.send_line("CONFIG SET stream-node-max-entries 3")
    for ms in range(1, 101):
        server.send("XADD", "s", f"{ms}-1", "n", ms)
    server.send_line("XDEL s 50-1")
    server.send_line("SET t text")
    return server


class TestXcount:
    @pytest.mark.parametrize(
        ("bounds", "count"),
        [
            ("- +", 99),
            ("10-1 20-1", 11),
            ("10 20", 11),
            ("(10-1 20-1", 10),
            ("(10-1 (20-1", 9),
            ("10-2 20-0", 9),
            ("49-1 51-1", 2),
            ("50-1 50-1", 0),
            ("100 +", 1),
            ("101 +", 0),
            ("- (1-1", 0),
            ("20 10", 0),
            ("+ -", 0),
        ],
    )
    def test_it_counts_what_xrange_returns(self, filled: Any, bounds: str, count: int) -> None:
        assert filled.send_line(f"XCOUNT s {bounds}") == count
        assert len(filled.send_line(f"XRANGE s {bounds}")) == count

    def test_a_missing_key_has_none(self, server: Any) -> None:
        assert server.send_line("XCOUNT s - +") == 0

    @pytest.mark.parametrize(
        ("words", "error"),
        [
            ("t - +", "-WRONGTYPE Operation against a key holding the wrong kind of value"),
            ("s x +", BAD_ID),
            ("s - x", BAD_ID),
            ("s - (-", BAD_ID),
            ("s (18446744073709551615-18446744073709551615 +",
             "-ERR invalid start ID for the interval"),
            ("s - (0-0", "-ERR invalid end ID for the interval"),
            ("s -", "-ERR wrong number of arguments for 'xcount' command"),
        ],
    )  # fmt: skip
    def test_errors(self, filled: Any, words: str, error: str) -> None:
        assert str(filled.send_line(f"XCOUNT {words}")) == error

    def test_it_follows_all_that_changes_the_stream(self, filled: Any) -> None:
        """The index is kept, not made anew, so each step is compared with a walk."""
        for step in (
            "XADD s 101-1 n 101", "XDEL s 7-1 8-1 9-1", "XTRIM s MAXLEN 80", "XTRIM s MINID 30-1",
            "XADD s MAXLEN 60 102-1 n 102", "XTRIM s MAXLEN ~ 40", "XSETID s 500-1",
            "XADD s * n 1", "XDELEX s IDS 1 99-1", "XGROUP CREATE s g 0",
            "XREADGROUP GROUP g c STREAMS s >", "XACKDEL s g IDS 1 98-1",
            "XTRIM s MAXLEN 20 DELREF", "COPY s u", "RENAME u s", "DEBUG RELOAD",
            "XTRIM s MAXLEN 0", "XADD s * n 1", "DEL s",
        ):  # fmt: skip
            filled.send_line(step)
            for bounds in ("40 90", "95 +", "(80-1 +", "- 97"):
                found = filled.send_line(f"XRANGE s {bounds}")
                assert filled.send_line(f"XCOUNT s {bounds}") == len(found), step


class TestXnth:
    @pytest.mark.parametrize(
        ("words", "ids"),
        [
            ("0", [1]), ("1", [2]), ("48", [49]), ("49", [51]), ("98", [100]), ("99", []),
            ("-1", [100]), ("-99", [1]), ("-100", []), ("9223372036854775807", []),
            ("-9223372036854775808", []),
            ("48 COUNT 2", [49, 51]), ("-2 count 5", [99, 100]), ("99 COUNT 2", []),
        ],
    )  # fmt: skip
    def test_entries_by_number(self, filled: Any, words: str, ids: list[int]) -> None:
        entries = [[b"%d-1" % ms, [b"n", b"%d" % ms]] for ms in ids]
        assert filled.send_line(f"XNTH s {words}") == entries

    def test_a_missing_key_has_none(self, server: Any) -> None:
        assert server.send_line("XNTH s 0") == []

    @pytest.mark.parametrize(
        ("words", "error"),
        [
            ("t 0", "-WRONGTYPE Operation against a key holding the wrong kind of value"),
            ("s x", NOT_AN_INTEGER),
            ("s 0 COUNT", SYNTAX),
            ("s 0 LIMIT 1", SYNTAX),
            ("s 0 COUNT 1 COUNT 1", SYNTAX),
            ("s 0 COUNT 0", "-ERR count should be greater than 0"),
            ("s", "-ERR wrong number of arguments for 'xnth' command"),
        ],
    )
    def test_errors(self, filled: Any, words: str, error: str) -> None:
        assert str(filled.send_line(f"XNTH {words}")) == error


class TestXsplit:
    @pytest.mark.parametrize("bounds", ["", " - +", " 20 60", " (49-1 51-1", " 100 +"])
    @pytest.mark.parametrize("parts", [1, 2, 3, 7, 10, 98, 99, 100, 10_000])
    def test_the_parts_are_the_range(self, filled: Any, parts: int, bounds: str) -> None:
        entries = [row[0] for row in filled.send_line(f"XRANGE s {bounds or '- +'}")]
        rows = filled.send_line(f"XSPLIT s {parts}{bounds}")
        assert len(rows) == min(parts, len(entries))
        counts = [row[2] for row in rows]
        assert max(counts) - min(counts) <= 1
        found = []
        for first, last, count in rows:
            part = [row[0] for row in filled.send("XRANGE", "s", first, last)]
            assert len(part) == count
            found += part
        assert found == entries

    def test_nothing_has_no_parts(self, filled: Any) -> None:
        assert filled.send_line("XSPLIT s 3 50 50") == []
        assert filled.send_line("XSPLIT missing 3") == []

    @pytest.mark.parametrize(
        ("words", "error"),
        [
            ("t 1", "-WRONGTYPE Operation against a key holding the wrong kind of value"),
            ("s 0", BAD_PARTS),
            ("s -1", BAD_PARTS),
            ("s 10001", BAD_PARTS),
            ("s x", NOT_AN_INTEGER),
            ("s 1 -", SYNTAX),
            ("s 1 - + x", SYNTAX),
            ("s 1 x +", BAD_ID),
            ("s", "-ERR wrong number of arguments for 'xsplit' command"),
        ],
    )
    def test_errors(self, filled: Any, words: str, error: str) -> None:
        assert str(filled.send_line(f"XSPLIT {words}")) == error


class TestExactLag:
    def lags(self, server: Any, line: str) -> list[Any]:
        rows = server.send_line(line)
        return [dict(zip(row[::2], row[1::2], strict=True))[b"lag"] for row in rows]

    def test_a_lag_that_is_not_known_is_counted(self, filled: Any) -> None:
        for name, last_id in (("a", "0"), ("b", "30-1"), ("c", "$"), ("d", "999-0"), ("e", "50")):
            filled.send_line(f"XGROUP CREATE s {name} {last_id}")
        assert self.lags(filled, "XINFO GROUPS s") == [None, None, 0, None, None]
        assert self.lags(filled, "XINFO GROUPS s EXACT") == [99, 69, 0, 0, 50]
        assert self.lags(filled, "XINFO GROUPS s exact") == [99, 69, 0, 0, 50]

    def test_all_else_is_the_same(self, filled: Any) -> None:
        filled.send_line("XGROUP CREATE s g $")
        assert filled.send_line("XINFO GROUPS s EXACT") == filled.send_line("XINFO GROUPS s")

    @pytest.mark.parametrize("words", ["s WHAT", "s EXACT EXACT", "missing EXACTLY"])
    def test_another_word_is_one_too_many(self, filled: Any, words: str) -> None:
        """As without EXACT, and as in Redis."""
        assert str(filled.send_line(f"XINFO GROUPS {words}")) == (
            "-ERR wrong number of arguments for 'xinfo|groups' command"
        )
