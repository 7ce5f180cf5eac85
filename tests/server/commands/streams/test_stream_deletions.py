"""XDELEX and XACKDEL, and the policies of XADD and XTRIM: what they change, log and tell.

What they answer is compared with Redis in tests/compat/scripts/stream_deletions.txt.
"""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def filled(server: Any) -> Any:
    """The stream s has 1-0 .. 6-0. The groups g and h have given all to their consumer c."""
    server.send_line("CONFIG SET stream-node-max-entries 3")
    for ms in range(1, 7):
        server.send("XADD", "s", f"{ms}-0", "n", ms)
    for group in "gh":
        server.send("XGROUP", "CREATE", "s", group, 0)
        server.send("XREADGROUP", "GROUP", group, "c", "STREAMS", "s", ">")
    server.logged()
    return server


def ids(server: Any) -> list[int]:
    return [int(entry[0].split(b"-")[0]) for entry in server.send_line("XRANGE s - +")]


def pending(server: Any, group: str) -> list[int]:
    rows = server.send("XPENDING", "s", group, "-", "+", 100)
    return [int(row[0].split(b"-")[0]) for row in rows]


def logged(server: Any) -> list[str]:
    return [line.decode() for line in server.logged()]


class TestLog:
    """The log has words that Redis 7.0 knows, as far as these can say it."""

    @pytest.mark.parametrize(
        ("line", "log"),
        [
            ("XDELEX s IDS 2 1-0 9-0", ["XDEL s 1-0"]),
            ("XDELEX s DELREF IDS 2 1-0 2-0", [
                "XACK s g 1-0 2-0", "XACK s h 1-0 2-0", "XDEL s 1-0 2-0",
            ]),
            ("XACKDEL s g ACKED IDS 2 1-0 9-0", ["XACK s g 1-0"]),
            ("XACKDEL s g KEEPREF IDS 2 1-0 9-0", ["XACK s g 1-0", "XDEL s 1-0"]),
            ("XACKDEL s h DELREF IDS 1 1-0", ["XACK s h 1-0", "XACK s g 1-0", "XDEL s 1-0"]),
            ("XTRIM s MAXLEN 5 DELREF", ["XACK s g 1-0", "XACK s h 1-0", "XTRIM s MAXLEN = 5"]),
            ("XADD s DELREF MAXLEN 6 7-0 n 7", [
                "XACK s g 1-0", "XACK s h 1-0", "XADD s MAXLEN = 6 7-0 n 7",
            ]),
            ("XADD s KEEPREF NOMKSTREAM 7-0 n 7", ["XADD s 7-0 n 7"]),
            ("XADD s ACKED MAXLEN 3 7-0 n 7", ["XADD s MINID = 1-0 7-0 n 7"]),
            ("XTRIM s KEEPREF MAXLEN 5", ["XTRIM s MAXLEN = 5"]),
        ],
    )  # fmt: skip
    def test_what_was_done_is_logged(self, filled: Any, line: str, log: list[str]) -> None:
        filled.send_line(line)
        assert logged(filled) == log

    @pytest.mark.parametrize(
        "line",
        [
            "XDELEX s IDS 1 9-0",
            "XDELEX s ACKED IDS 1 1-0",
            "XACKDEL s g DELREF IDS 1 9-0",
            "XACKDEL s missing IDS 1 1-0",
            "XDELEX missing IDS 1 1-0",
            "XTRIM s MAXLEN 0 ACKED",
            "XTRIM s MAXLEN 6 DELREF",
        ],
    )
    def test_what_has_changed_nothing_is_not(self, filled: Any, line: str) -> None:
        filled.send_line(line)
        assert logged(filled) == []

    def test_15569_references_to_a_deleted_entry_are_dropped_and_that_is_logged(
        self, filled: Any
    ) -> None:
        filled.send_line("XDEL s 2-0")
        filled.logged()
        assert filled.send_line("XDELEX s DELREF IDS 1 2-0") == [-1]
        assert logged(filled) == ["XACK s g 2-0", "XACK s h 2-0"]
        assert pending(filled, "g") == pending(filled, "h") == [1, 3, 4, 5, 6]

    def test_a_trim_with_a_limit_is_logged_by_its_result(self, filled: Any) -> None:
        for group in "gh":
            filled.send("XACK", "s", group, 1, 2, 4, 5)
        filled.logged()
        assert filled.send_line("XTRIM s MAXLEN ~ 3 ACKED LIMIT 4") == 2
        assert logged(filled) == ["XTRIM s MINID = 3-0"]
        assert filled.send_line("XADD s ACKED MAXLEN ~ 4 7-0 n 7") == b"7-0"
        assert logged(filled) == [
            "XDEL s 4-0",
            "XADD s MINID = 3-0 7-0 n 7",
            "XSETID s 7-0 MAXDELETEDID 0-1",
        ]
        assert filled.send_line("XTRIM s MAXLEN ~ 1 DELREF LIMIT 1") == 1
        assert logged(filled)[-1] == "XTRIM s MAXLEN = 3"

    def test_an_entry_that_is_added_and_trimmed_at_once_is_deleted_in_the_log_after_it(
        self, filled: Any
    ) -> None:
        """All groups were set beyond it, so nobody refers to it."""
        for group in "gh":
            filled.send_line(f"XGROUP SETID s {group} 100-0")
        filled.logged()
        assert filled.send_line("XADD s MAXLEN 1 ACKED 7-0 n 7") == b"7-0"
        assert filled.send_line("XRANGE s 7 7") == []
        assert logged(filled) == [
            "XADD s MINID = 1-0 7-0 n 7",
            "XDEL s 7-0",
            "XSETID s 7-0 MAXDELETEDID 0-1",
        ]

    def test_a_trim_that_leaves_older_entries_is_logged_in_words_that_all_know(
        self, filled: Any
    ) -> None:
        """Redis 8.6 logs ACKED, with the first id that is left: so its replicas lose deletions."""
        for group in "gh":
            filled.send("XACK", "s", group, 2, 4, 5)
        filled.logged()
        assert filled.send_line("XTRIM s MINID ~ 6 ACKED LIMIT 3") == 1
        assert logged(filled) == [
            "XDEL s 2-0", "XTRIM s MINID = 1-0", "XSETID s 6-0 MAXDELETEDID 0-1",
        ]  # fmt: skip
        assert filled.send_line("XTRIM s MINID ~ 6 ACKED") == 2
        assert logged(filled) == [
            "XDEL s 4-0 5-0", "XTRIM s MINID = 1-0", "XSETID s 6-0 MAXDELETEDID 0-1",
        ]  # fmt: skip
        assert ids(filled) == [1, 3, 6]


class TestEvents:
    def test_deleted_entries_are_told_of_once(self, filled: Any) -> None:
        filled.send_line("CONFIG SET notify-keyspace-events Kt")
        hearer = filled.client()
        hearer.send_line("PSUBSCRIBE *")
        for line in (
            "XDELEX s IDS 2 1-0 2-0",
            "XACKDEL s g IDS 2 3-0 4-0",
            "XACKDEL s g ACKED IDS 1 5-0",
            "XDELEX s DELREF IDS 1 1-0",
            "XTRIM s MAXLEN 1 DELREF",
        ):
            filled.send_line(line)
        told = []
        while (message := hearer.reply()) != "nothing has been answered":
            told.append(message[-1])
        assert told == [b"xdel", b"xdel", b"xtrim"]


class TestWhatIsLeft:
    def test_14382_several_ids_are_acknowledged_at_once(self, filled: Any) -> None:
        reply = filled.send_line("XACKDEL s g DELREF IDS 4 1-0 2-0 3-0 4-0")
        assert reply == [1, 1, 1, 1]
        assert pending(filled, "g") == pending(filled, "h") == ids(filled) == [5, 6]

    def test_cve_2025_62507_there_may_be_any_number_of_ids(self, filled: Any) -> None:
        many = [f"{ms}-0" for ms in range(1, 1001)]
        expected = [1] * 6 + [-1] * 994
        assert filled.send("XACKDEL", "s", "g", "IDS", 1000, *many) == expected
        assert filled.send("XDELEX", "s", "DELREF", "IDS", 1000, *many) == [-1] * 1000
        assert pending(filled, "h") == []

    def test_14623_a_node_goes_when_its_last_entry_does(self, filled: Any) -> None:
        filled.send_line("XDELEX s DELREF IDS 3 1-0 2-0 3-0")
        assert filled.send_line("XINFO STREAM s")[3] == 1  # radix-tree-keys
        filled.send_line("XTRIM s MAXLEN ~ 1 DELREF")
        assert ids(filled) == [6]
        assert filled.send_line("XINFO STREAM s")[3] == 1

    def test_a_replica_does_the_same(self, filled: Any) -> None:
        for line in ("XACK s g 1 2 4", "XACK s h 2 5", "XDEL s 5-0"):
            filled.send_line(line)
        filled.send_line("COPY s twin")
        filled.logged()
        for line in (
            "XTRIM s MINID ~ 5 ACKED",
            "XACKDEL s h ACKED IDS 2 1-0 4-0",
            "XDELEX s DELREF IDS 2 3-0 5-0",
        ):
            filled.send_line(line)
        for line in logged(filled):
            filled.send_line(line.replace(" s ", " twin "))
        for line in ("XINFO STREAM {} FULL", "XRANGE {} - +", "XINFO GROUPS {}"):
            assert filled.send_line(line.format("s")) == filled.send_line(line.format("twin"))
