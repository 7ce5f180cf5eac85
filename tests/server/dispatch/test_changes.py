"""How many changes a command counts, for save points and rdb_changes_since_last_save.

The numbers are those of Redis 8.0.6.
"""

from __future__ import annotations

from typing import Any

import pytest


@pytest.fixture
def full(server: Any) -> Any:
    """A server with the lists l (a, b, c) and m (d), and the stream s with a group g.

    alice was given 1-0. 2-0 is new.
    """
    for line in (
        "RPUSH l a b c", "RPUSH m d", "XADD s 1-0 f v", "XGROUP CREATE s g 0",
        "XREADGROUP GROUP g alice STREAMS s >", "XADD s 2-0 f v",
    ):  # fmt: skip
        server.send_line(line)
    return server


@pytest.mark.parametrize(
    ("line", "changes"),
    [
        ("LMOVE l m LEFT RIGHT", 1),
        ("LMOVE l l LEFT RIGHT", 1),
        ("RPOPLPUSH l m", 1),
        ("BLMOVE l m LEFT RIGHT 0", 1),
        ("BRPOPLPUSH m l 0", 1),
        ("LPOP l 2", 2),
        ("LMPOP 1 l LEFT COUNT 2", 2),
        ("RPUSH l x y", 2),
        ("XREADGROUP GROUP g alice STREAMS s 0", 0),
        ("XREADGROUP GROUP g alice STREAMS s 9", 0),
        ("XREADGROUP GROUP g bob STREAMS s 0", 1),
        ("XREADGROUP GROUP g alice STREAMS s >", 1),
        ("XREADGROUP GROUP g bob STREAMS s >", 2),
    ],
)
def test_a_command_counts_its_changes(full: Any, line: str, changes: int) -> None:
    before = full.state.events.changes
    full.send_line(line)
    assert full.state.events.changes - before == changes


@pytest.mark.parametrize(
    ("wait", "push", "changes"),
    [
        ("BLMOVE new m LEFT RIGHT 0", "RPUSH new x", 2),
        ("BRPOPLPUSH new m 0", "RPUSH new x", 2),
        ("BLMOVE new new LEFT RIGHT 0", "RPUSH new x", 2),
        ("BLPOP new 0", "RPUSH new x", 2),
        ("BLPOP new 0", "RPUSH new x y z", 4),
        ("BLMPOP 0 1 new LEFT COUNT 2", "RPUSH new x y z", 5),
    ],
)
def test_a_push_counts_together_with_the_command_that_it_wakes(
    full: Any, wait: str, push: str, changes: int
) -> None:
    guest = full.client()
    guest.send_line(wait)
    before = full.state.events.changes
    full.send_line(push)
    assert not guest.waits
    assert full.state.events.changes - before == changes


def test_reading_the_history_is_not_logged(full: Any) -> None:
    full.logged()
    full.send_line("XREADGROUP GROUP g alice STREAMS s 0")
    assert full.logged() == []
    full.send_line("XREADGROUP GROUP g bob STREAMS s 0")
    assert full.logged() == [b"XGROUP CREATECONSUMER s g bob"]
