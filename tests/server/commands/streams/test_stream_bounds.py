"""MAXCOUNT and MAXSIZE of XREAD and XREADGROUP: how much one reply may have."""

from __future__ import annotations

from typing import Any

import pytest

SEVERAL = "STREAMS a b c"


@pytest.fixture
def filled(server: Any) -> Any:
    """Three streams of four entries each, and a group on each."""
    for key in "abc":
        for ms in range(1, 5):
            server.send("XADD", key, f"{ms}-0", "n", ms)
        server.send("XGROUP", "CREATE", key, "g", 0)
    server.logged()
    return server


def given(reply: Any) -> dict[bytes, int]:
    """How many entries of each stream a reply has."""
    return {key: len(entries) for key, entries in reply or []}


@pytest.mark.parametrize(
    ("options", "entries"),
    [
        ("MAXCOUNT 100", {b"a": 4, b"b": 4, b"c": 4}),
        ("MAXCOUNT 12", {b"a": 4, b"b": 4, b"c": 4}),
        ("MAXCOUNT 7", {b"a": 4, b"b": 3}),
        ("MAXCOUNT 8", {b"a": 4, b"b": 4}),
        ("MAXCOUNT 1", {b"a": 1}),
        ("COUNT 2 MAXCOUNT 5", {b"a": 2, b"b": 2, b"c": 1}),
        ("MAXCOUNT 5 COUNT 5", {b"a": 4, b"b": 1}),
        ("maxcount 3 COUNT 2", {b"a": 2, b"b": 1}),
        ("COUNT 0 MAXCOUNT 5", {b"a": 4, b"b": 1}),
    ],
)
def test_maxcount_is_of_all_streams(filled: Any, options: str, entries: dict[bytes, int]) -> None:
    assert given(filled.send_line(f"XREAD {options} {SEVERAL} 0 0 0")) == entries
    assert given(filled.send_line(f"XREADGROUP GROUP g x {options} {SEVERAL} > > >")) == entries
    for key in b"a", b"b", b"c":
        assert filled.send("XPENDING", key, "g")[0] == entries.get(key, 0)


def test_maxsize_is_of_the_whole_reply_and_one_entry_is_always_given(filled: Any) -> None:
    whole = len(filled.owner.raw("XREAD", "STREAMS", "a", 0))
    assert given(filled.send_line(f"XREAD MAXSIZE {whole * 2} STREAMS a 0")) == {b"a": 4}
    for size in range(1, whole * 3):
        reply = filled.send_line(f"XREAD MAXSIZE {size} {SEVERAL} 0 0 0")
        written = len(filled.owner.raw(*f"XREAD MAXSIZE {size} {SEVERAL} 0 0 0".split()))
        assert given(reply)[b"a"] >= 1
        assert written <= size + 20 or sum(given(reply).values()) == 1


def test_a_group_keeps_what_the_size_left_no_room_for(filled: Any) -> None:
    line = f"XREADGROUP GROUP g x MAXSIZE 90 {SEVERAL} > > >"
    seen = []
    while reply := filled.send_line(line):
        assert 1 <= sum(given(reply).values()) <= 3
        seen += [(key, entry[0]) for key, entries in reply for entry in entries]
    wanted = [(key, b"%d-0" % ms) for key in (b"a", b"b", b"c") for ms in range(1, 5)]
    assert seen == wanted


def test_what_is_pending_is_bounded_too(filled: Any) -> None:
    filled.send_line(f"XREADGROUP GROUP g x {SEVERAL} > > >")
    line = f"XREADGROUP GROUP g x MAXCOUNT 5 {SEVERAL} 0 0 0"
    assert given(filled.send_line(line)) == {b"a": 4, b"b": 1}
    line = f"XREADGROUP GROUP g x MAXSIZE 1 {SEVERAL} 0 0 0"
    assert given(filled.send_line(line)) == {b"a": 1}


def test_a_waiting_reader_is_bounded_when_it_wakes(filled: Any) -> None:
    reader = filled.client()
    reader.send_line("XREADGROUP GROUP g x MAXCOUNT 2 BLOCK 0 STREAMS a 0")
    reader.send_line("XREADGROUP GROUP g x STREAMS a >")
    reader.send_line("XREADGROUP GROUP g x MAXCOUNT 2 BLOCK 0 STREAMS a >")
    assert reader.waits
    filled.send_line("MULTI")
    for ms in range(10, 20):
        filled.send_line(f"XADD a {ms} n v")
    filled.send_line("EXEC")
    assert given(reader.reply()) == {b"a": 2}


@pytest.mark.parametrize("command", ["XREAD", "XREADGROUP GROUP g x"])
@pytest.mark.parametrize(
    ("options", "error"),
    [
        ("MAXCOUNT 0", "MAXCOUNT must be a positive integer"),
        ("MAXCOUNT -1", "MAXCOUNT must be a positive integer"),
        ("MAXCOUNT x", "MAXCOUNT must be a positive integer"),
        ("MAXSIZE 0", "MAXSIZE must be a positive integer"),
        ("MAXSIZE 1.5", "MAXSIZE must be a positive integer"),
        ("COUNT 3 MAXCOUNT 2", "MAXCOUNT must be greater than or equal to COUNT"),
        ("MAXCOUNT 2 COUNT 3", "MAXCOUNT must be greater than or equal to COUNT"),
        ("MAXCOUNT", "value"),
    ],
)
def test_bad_bounds_are_refused(filled: Any, command: str, options: str, error: str) -> None:
    if error == "value":
        error = "MAXCOUNT must be a positive integer"  # of STREAMS
    assert filled.send_line(f"{command} {options} STREAMS a 0") == f"-ERR {error}"


@pytest.mark.parametrize(
    "line",
    [
        "XREAD MAXCOUNT 5 MAXSIZE 7 STREAMS k l 0 0",
        "XREAD MAXSIZE STREAMS STREAMS k l 0 0",
        "XREADGROUP GROUP STREAMS STREAMS MAXCOUNT 5 COUNT 1 MAXSIZE 9 STREAMS k l > >",
    ],
)
def test_15478_the_keys_are_those_that_are_read(server: Any, line: str) -> None:
    assert server.send_line(f"COMMAND GETKEYS {line}") == [b"k", b"l"]
