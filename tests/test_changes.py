"""A command reports a change in one way: Keyspace.changed, with what follows the event by name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
MODULES = sorted((ROOT / "server" / "commands").rglob("*.py"))
WAYS = ("changed", "group_changed")
BY_PLACE = 2  # the key and the event

# What the AOF and the replicas hear goes through a change. These read the propagation's state.
PROPAGATION_READ_BY = {"waiting.py"}


def unnamed(source: str) -> Iterator[str]:
    """The calls in *source* that report a change without naming what follows the event."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            of_a_keyspace = ast.unparse(node.func.value).split(".")[-1] in {
                "db",
                "source",
                "target",
            }
            if node.func.attr in WAYS and of_a_keyspace and len(node.args) > BY_PLACE:
                yield ast.unparse(node)


def test_what_follows_the_event_is_named() -> None:
    found = {call: path.name for path in MODULES for call in unnamed(path.read_text())}
    assert found == {}


def test_a_change_that_names_nothing_is_seen() -> None:
    assert list(unnamed("call.db.changed(key, b'set', 1)")) == ["call.db.changed(key, b'set', 1)"]


def test_commands_reach_the_log_by_their_changes_alone() -> None:
    speaking = {path.name for path in MODULES if ".propagation" in path.read_text()}
    assert speaking == PROPAGATION_READ_BY
    assert [path.name for path in MODULES if "events.log" in path.read_text()] == []
