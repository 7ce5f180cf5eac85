"""XINFO STREAM, GROUPS, CONSUMERS."""

from __future__ import annotations

from typing import Any

import pytest

BAD_OPTIONS = "-ERR unknown subcommand or wrong number of arguments for 'STREAM'. Try XINFO HELP."


@pytest.fixture
def filled(server: Any) -> Any:
    """A server with the stream s (1-0 .. 12-0, of which 2-0 was deleted).

    In its group g, alice was given 1-0 and 2-0.
    """
    for ms in range(1, 13):
        server.send("XADD", "s", f"{ms}-0", "n", ms)
    server.send_line("XGROUP CREATE s g 0")
    server.send_line("XREADGROUP GROUP g alice COUNT 2 STREAMS s >")
    server.send_line("XDEL s 2-0")
    return server


def table(row: list[Any]) -> dict[bytes, Any]:
    return dict(zip(row[::2], row[1::2], strict=True))


def entry(ms: int) -> list[Any]:
    return [b"%d-0" % ms, [b"n", b"%d" % ms]]


def test_xinfo_stream(filled: Any) -> None:
    assert filled.send_line("XINFO STREAM s") == [
        b"length", 11,
        b"radix-tree-keys", 1,
        b"radix-tree-nodes", 2,
        b"last-generated-id", b"12-0",
        b"max-deleted-entry-id", b"2-0",
        b"entries-added", 12,
        b"recorded-first-entry-id", b"1-0",
        b"idmp-duration", 100,
        b"idmp-maxsize", 100,
        b"pids-tracked", 0,
        b"iids-tracked", 0,
        b"iids-added", 0,
        b"iids-duplicates", 0,
        b"groups", 1,
        b"first-entry", entry(1),
        b"last-entry", entry(12),
    ]  # fmt: skip


def test_an_empty_stream_has_no_first_and_last_entry(server: Any) -> None:
    server.send_line("XGROUP CREATE s g 0 MKSTREAM")
    report = table(server.send_line("XINFO STREAM s"))
    assert (report[b"first-entry"], report[b"last-entry"]) == (None, None)
    assert report[b"radix-tree-nodes"] == 1


def test_xinfo_stream_full(filled: Any) -> None:
    now = filled.now_ms
    report = table(filled.send_line("XINFO STREAM s FULL COUNT 1"))
    assert list(report)[-2:] == [b"entries", b"groups"]
    assert report[b"entries"] == [entry(1)]
    [group] = report[b"groups"]
    assert group == [
        b"name", b"g",
        b"last-delivered-id", b"2-0",
        b"entries-read", 2,
        b"lag", None,
        b"pel-count", 2,
        b"nacked-count", 0,
        b"pending", [[b"1-0", b"alice", now, 1]],
        b"consumers", [[
            b"name", b"alice",
            b"seen-time", now,
            b"active-time", now,
            b"pel-count", 2,
            b"pending", [[b"1-0", now, 1]],
        ]],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "entries"), [("", 10), ("COUNT 0", 11), ("COUNT -3", 10), ("count 2", 2)]
)
def test_xinfo_stream_full_shows_count_entries(filled: Any, options: str, entries: int) -> None:
    report = table(filled.send_line(f"XINFO STREAM s FULL {options}"))
    assert len(report[b"entries"]) == entries


@pytest.mark.parametrize("options", ["NOSUCH", "FULL COUNT", "FULL NOSUCH 1", "FULL COUNT 1 2"])
def test_bad_options_are_refused(filled: Any, options: str) -> None:
    assert filled.send_line(f"XINFO STREAM s {options}") == BAD_OPTIONS


def test_resp3_clients_get_maps(filled: Any) -> None:
    filled.send_line("HELLO 3")
    assert filled.owner.raw("XINFO", "STREAM", "s").startswith(b"%16\r\n$6\r\nlength\r\n:11\r\n")
    assert filled.owner.raw("XINFO", "STREAM", "s", "FULL").startswith(b"%15\r\n")
    assert filled.owner.raw("XINFO", "GROUPS", "s").startswith(b"*1\r\n%6\r\n")
    assert filled.owner.raw("XINFO", "CONSUMERS", "s", "g").startswith(b"*1\r\n%4\r\n")


def test_xinfo_groups(filled: Any) -> None:
    filled.send_line("XGROUP CREATE s a $")
    assert filled.send_line("XINFO GROUPS s") == [
        [b"name", b"a", b"consumers", 0, b"pending", 0, b"last-delivered-id", b"12-0",
         b"entries-read", None, b"lag", 0],
        [b"name", b"g", b"consumers", 1, b"pending", 2, b"last-delivered-id", b"2-0",
         b"entries-read", 2, b"lag", None],
    ]  # fmt: skip


def test_xinfo_consumers(filled: Any) -> None:
    filled.advance(40)
    filled.send_line("XGROUP CREATECONSUMER s g bob")
    filled.advance(2)
    assert filled.send_line("XINFO CONSUMERS s g") == [
        [b"name", b"alice", b"pending", 2, b"idle", 42, b"inactive", 42],
        [b"name", b"bob", b"pending", 0, b"idle", 2, b"inactive", -1],
    ]


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("XINFO STREAM nokey", "-ERR no such key"),
        ("XINFO GROUPS nokey", "-ERR no such key"),
        ("XINFO CONSUMERS nokey g", "-ERR no such key"),
        ("XINFO CONSUMERS s nog", "-NOGROUP No such consumer group 'nog' for key name 's'"),
        ("XINFO NOSUCH s", "-ERR unknown subcommand 'NOSUCH'. Try XINFO HELP."),
        ("XINFO GROUPS str", "-WRONGTYPE Operation against a key holding the wrong kind of value"),
    ],
)
def test_refusals(filled: Any, line: str, error: str) -> None:
    filled.send_line("SET str x")
    assert filled.send_line(line) == error


def test_help(filled: Any) -> None:
    assert filled.send_line("XINFO HELP")[0].startswith(b"XINFO <subcommand>")
