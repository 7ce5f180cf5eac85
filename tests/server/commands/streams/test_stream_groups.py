"""XGROUP, XACK, XPENDING."""

from __future__ import annotations

from typing import Any

import pytest

BAD_ID = "-ERR Invalid stream ID specified as stream command argument"
NO_KEY = (
    "-ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to "
    "use the MKSTREAM option to create an empty stream automatically."
)
NO_GROUP = "-NOGROUP No such consumer group 'nog' for key name 's'"


@pytest.fixture
def filled(server: Any) -> Any:
    """A server with the stream s (1-0 .. 4-0).

    In its group g, alice was given 1-0 and 2-0, and bob 3-0 100 ms later.
    """
    for ms in (1, 2, 3, 4):
        server.send("XADD", "s", f"{ms}-0", "n", ms)
    server.send_line("XGROUP CREATE s g 0")
    server.send_line("XREADGROUP GROUP g alice COUNT 2 STREAMS s >")
    server.advance(100)
    server.send_line("XREADGROUP GROUP g bob COUNT 1 STREAMS s >")
    server.logged()
    return server


def group(filled: Any, name: bytes = b"g") -> dict[bytes, Any]:
    rows = [
        dict(zip(row[::2], row[1::2], strict=True)) for row in filled.send_line("XINFO GROUPS s")
    ]
    return next(row for row in rows if row[b"name"] == name)


class TestCreate:
    @pytest.mark.parametrize(
        ("start", "last"), [("0", b"0-0"), ("2", b"2-0"), ("2-5", b"2-5"), ("$", b"4-0")]
    )
    def test_begins_after_the_given_id(self, filled: Any, start: str, last: bytes) -> None:
        assert filled.send("XGROUP", "CREATE", "s", "h", start) == b"OK"
        row = group(filled, b"h")
        assert (row[b"last-delivered-id"], row[b"entries-read"]) == (last, None)

    def test_an_existing_name_is_refused(self, filled: Any) -> None:
        assert filled.send_line("XGROUP CREATE s g 0") == (
            "-BUSYGROUP Consumer Group name already exists"
        )

    def test_mkstream_creates_the_stream(self, server: Any) -> None:
        assert server.send_line("XGROUP CREATE s g $") == NO_KEY
        assert server.send_line("XGROUP CREATE s g $ MKSTREAM") == b"OK"
        assert server.send_line("XLEN s") == 0
        assert server.send_line("TYPE s") == b"stream"

    def test_a_refused_mkstream_creates_no_stream(self, server: Any) -> None:
        assert server.send_line("XGROUP CREATE s g x MKSTREAM") == BAD_ID
        assert server.send_line("EXISTS s") == 0

    def test_entriesread_is_stored(self, filled: Any) -> None:
        filled.send_line("XGROUP CREATE s h 2 ENTRIESREAD 2")
        row = group(filled, b"h")
        assert (row[b"entries-read"], row[b"lag"]) == (2, 2)

    @pytest.mark.parametrize(
        ("words", "error"),
        [
            ("s h - ", BAD_ID),
            ("s h 0 ENTRIESREAD -2", "-ERR value for ENTRIESREAD must be positive or -1"),
            ("s h 0 ENTRIESREAD x", "-ERR value is not an integer or out of range"),
            (
                "s h 0 NOSUCH",
                "-ERR unknown subcommand or wrong number of arguments for 'CREATE'. "
                "Try XGROUP HELP.",
            ),
            ("s h", "-ERR wrong number of arguments for 'xgroup|create' command"),
            ("str h 0", "-WRONGTYPE Operation against a key holding the wrong kind of value"),
        ],
    )
    def test_refusals(self, filled: Any, words: str, error: str) -> None:
        filled.send_line("SET str x")
        assert filled.send_line(f"XGROUP CREATE {words}") == error


class TestSetid:
    @pytest.mark.parametrize(
        ("word", "last"),
        [
            ("1", b"1-0"),
            ("$", b"4-0"),
            ("-", b"0-0"),
            ("+", b"18446744073709551615-18446744073709551615"),
        ],
    )
    def test_sets_the_last_delivered_id(self, filled: Any, word: str, last: bytes) -> None:
        assert filled.send("XGROUP", "SETID", "s", "g", word) == b"OK"
        row = group(filled)
        assert (row[b"last-delivered-id"], row[b"entries-read"], row[b"pending"]) == (last, None, 3)

    def test_entriesread_is_stored(self, filled: Any) -> None:
        filled.send_line("XGROUP SETID s g 1 ENTRIESREAD 1")
        assert group(filled)[b"entries-read"] == 1

    def test_needs_the_group(self, filled: Any) -> None:
        assert filled.send_line("XGROUP SETID s nog 0") == NO_GROUP
        assert filled.send_line("XGROUP SETID nokey g 0") == NO_KEY


class TestConsumers:
    def test_createconsumer_creates_a_consumer_once(self, filled: Any) -> None:
        assert filled.send_line("XGROUP CREATECONSUMER s g carol") == 1
        assert filled.send_line("XGROUP CREATECONSUMER s g carol") == 0
        assert filled.send_line("XGROUP CREATECONSUMER s nog carol") == NO_GROUP
        assert filled.logged() == [b"XGROUP CREATECONSUMER s g carol"]

    def test_delconsumer_removes_the_pending_entries(self, filled: Any) -> None:
        assert filled.send_line("XGROUP DELCONSUMER s g alice") == 2
        assert filled.send_line("XGROUP DELCONSUMER s g alice") == 0
        assert filled.send_line("XPENDING s g") == [1, b"3-0", b"3-0", [[b"bob", b"1"]]]
        assert filled.logged() == [b"XGROUP DELCONSUMER s g alice"]

    def test_delconsumer_removes_a_consumer_without_pending_entries(self, filled: Any) -> None:
        filled.send_line("XGROUP CREATECONSUMER s g carol")
        filled.logged()
        assert filled.send_line("XGROUP DELCONSUMER s g carol") == 0
        assert filled.logged() == [b"XGROUP DELCONSUMER s g carol"]


def test_destroy_removes_the_group(filled: Any) -> None:
    assert filled.send_line("XGROUP DESTROY s nog") == 0
    assert filled.send_line("XGROUP DESTROY s g") == 1
    assert filled.send_line("XINFO GROUPS s") == []
    assert filled.send_line("XGROUP DESTROY nokey g") == NO_KEY


def test_help_and_unknown_subcommands(filled: Any) -> None:
    assert filled.send_line("XGROUP HELP")[0].startswith(b"XGROUP <subcommand>")
    assert (
        filled.send_line("XGROUP NOSUCH s") == "-ERR unknown subcommand 'NOSUCH'. Try XGROUP HELP."
    )


class TestXack:
    def test_answers_how_many_entries_were_pending(self, filled: Any) -> None:
        assert filled.send_line("XACK s g 1-0 2 9-9 1-0") == 2
        assert filled.send_line("XACK s g 1-0") == 0
        assert filled.send_line("XPENDING s g")[0] == 1
        assert filled.logged() == [b"XACK s g 1-0 2 9-9 1-0"]

    def test_a_missing_key_or_group_has_nothing_pending(self, filled: Any) -> None:
        assert filled.send_line("XACK nokey g 1-0") == 0
        assert filled.send_line("XACK s nog 1-0") == 0

    def test_a_bad_id_acknowledges_nothing(self, filled: Any) -> None:
        assert filled.send_line("XACK s g 1-0 x") == BAD_ID
        assert filled.send_line("XPENDING s g")[0] == 3


class TestXpending:
    def test_summary(self, filled: Any) -> None:
        filled.send_line("XGROUP CREATECONSUMER s g carol")
        assert filled.send_line("XPENDING s g") == [
            3, b"1-0", b"3-0", [[b"alice", b"2"], [b"bob", b"1"]],
        ]  # fmt: skip

    def test_summary_without_pending_entries(self, filled: Any) -> None:
        filled.send_line("XGROUP CREATE s h 0")
        assert filled.owner.raw("XPENDING", "s", "h") == b"*4\r\n:0\r\n$-1\r\n$-1\r\n*-1\r\n"

    @pytest.mark.parametrize(
        ("words", "expected"),
        [
            ("- + 10", [1, 2, 3]),
            ("- + 2", [1, 2]),
            ("- + 0", []),
            ("- + -5", []),
            ("2 2 10", [2]),
            ("(1 (3-0 10", [2]),
            ("(1 (3 10", [2, 3]),  # an end without a seq is the end of its ms
            ("- + 10 alice", [1, 2]),
            ("- + 10 nobody", []),
            ("IDLE 100 - + 10", [1, 2]),
            ("IDLE 101 - + 10", []),
            ("IDLE 0 - + 10", [1, 2, 3]),
            ("idle 100 - + 10 bob", []),
        ],
    )
    def test_ranges(self, filled: Any, words: str, expected: list[int]) -> None:
        rows = filled.send_line(f"XPENDING s g {words}")
        owners = {1: (b"alice", 100), 2: (b"alice", 100), 3: (b"bob", 0)}
        assert rows == [[b"%d-0" % ms, *owners[ms], 1] for ms in expected]

    @pytest.mark.parametrize(
        ("line", "error"),
        [
            ("XPENDING s nog", "-NOGROUP No such key 's' or consumer group 'nog'"),
            ("XPENDING nokey g", "-NOGROUP No such key 'nokey' or consumer group 'g'"),
            ("XPENDING s g - +", "-ERR syntax error"),
            ("XPENDING s g IDLE 5 - +", "-ERR syntax error"),
            ("XPENDING s g IDLE x - + 5", "-ERR value is not an integer or out of range"),
            ("XPENDING s g - + x", "-ERR value is not an integer or out of range"),
            ("XPENDING s g x + 5", BAD_ID),
            ("XPENDING s g - (0-0 5", "-ERR invalid end ID for the interval"),
        ],
    )
    def test_refusals(self, filled: Any, line: str, error: str) -> None:
        assert filled.send_line(line) == error
