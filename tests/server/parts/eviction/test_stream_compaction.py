"""Cron rewrites the nodes of streams of which the greater half is deleted."""

from __future__ import annotations

from typing import Any

import pytest

from storage.stream import stream_node
from storage.stream.stream import Stream


@pytest.fixture
def filled(server: Any) -> Any:
    """The stream s has three nodes of 20 entries: 1-0 .. 60-0."""
    server.send_line("CONFIG SET stream-node-max-entries 20")
    for ms in range(1, 61):
        server.send("XADD", "s", f"{ms}-0", "n", ms)
    server.logged()
    return server


def nodes(server: Any, key: bytes = b"s") -> list[tuple[int, int]]:
    """How many entries are alive in each node, and how many there are."""
    stream = server.state.databases[0].peek(key)
    assert isinstance(stream, Stream)
    return [(stream_node.alive(node), stream_node.entries(node)) for _, node in stream.rax]


def tick(server: Any) -> None:
    server.state.stream_compaction.tick(0)


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("XDEL s 1 2 3 4 5 6 7 8 9 10 11", [(9, 9), (20, 20), (20, 20)]),
        ("XDELEX s IDS 11 21 22 23 24 25 26 27 28 29 30 31", [(20, 20), (9, 9), (20, 20)]),
        ("XTRIM s MAXLEN 49", [(9, 9), (20, 20), (20, 20)]),
        ("XADD s MAXLEN 49 61-0 n 61", [(8, 8), (20, 20), (20, 20), (1, 1)]),
        ("XTRIM s MINID 12 DELREF", [(9, 9), (20, 20), (20, 20)]),
        ("XDEL s 41 42 43 44 45 46 47 48 49 50 51", [(20, 20), (20, 20), (9, 20)]),
    ],
)
def test_a_sparse_node_is_rewritten_at_a_tick(
    filled: Any, line: str, after: list[tuple[int, int]]
) -> None:
    filled.send_line(line)
    filled.logged()
    shown = filled.send_line("XRANGE s - +")
    info = filled.send_line("XINFO STREAM s")
    tick(filled)
    assert nodes(filled) == after
    assert filled.send_line("XRANGE s - +") == shown
    assert filled.send_line("XREVRANGE s + -") == shown[::-1]
    assert filled.send_line("XINFO STREAM s") == info
    assert filled.logged() == []


def test_acknowledged_and_deleted_entries_give_back_their_memory(filled: Any) -> None:
    filled.send_line("XGROUP CREATE s g 0")
    filled.send_line("XREADGROUP GROUP g c STREAMS s >")
    filled.send("XACKDEL", "s", "g", "ACKED", "IDS", 15, *range(1, 16))
    tick(filled)
    assert nodes(filled)[0] == (5, 5)


def test_a_key_that_has_gone_meanwhile_is_left_out(filled: Any) -> None:
    filled.send("XDEL", "s", *range(1, 12))
    filled.send_line("RENAME s t")
    filled.send_line("SET s v")
    tick(filled)
    filled.send_line("XDEL t 12")
    tick(filled)
    assert nodes(filled, b"t")[0] == (8, 8)
    filled.send("XDEL", "t", *range(21, 35))
    filled.send_line("DEL t")
    tick(filled)


def test_many_nodes_are_rewritten_in_some_ticks(filled: Any) -> None:
    filled.send_line("CONFIG SET stream-node-max-entries 12")
    for ms in range(61, 61 + 12 * 700):
        filled.send("XADD", "s", f"{ms}-0", "n", ms)
    for first in range(61, 61 + 12 * 690, 12):
        filled.send("XDEL", "s", *range(first, first + 8))
    tick(filled)
    assert sum(entries > alive for alive, entries in nodes(filled)) > 100
    tick(filled)
    assert sum(entries > alive for alive, entries in nodes(filled)) <= 1
