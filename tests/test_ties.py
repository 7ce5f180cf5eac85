"""Parts know each other by types: nobody sets a callable of another part, and no part is an Any."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
MODULES = sorted((ROOT / "server").rglob("*.py"))

# The one place that gives parts what they know by a protocol only.
TIED_BY = {"app.py", "dispatcher.py", "role_changes.py"}
TIES = {"addresses", "listener", "pipes", "shutdown", "timers"}


def loose_attributes(source: str) -> Iterator[str]:
    """The public attributes that *source* declares as a callable or as anything."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Attribute):
            kind = ast.unparse(node.annotation)
            if not node.target.attr.startswith("_") and kind.startswith(("Callable", "Any")):
                yield ast.unparse(node.target)


def ties(source: str) -> Iterator[str]:
    """The ties that *source* sets on other objects than its own."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                own = isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self"
                if isinstance(target, ast.Attribute) and not own and target.attr in TIES:
                    yield target.attr


def test_no_part_has_a_callable_that_others_set() -> None:
    found = {name: path.name for path in MODULES for name in loose_attributes(path.read_text())}
    assert found == {}


def test_a_loose_attribute_is_seen() -> None:
    text = "def __init__(self): self.on_done: Callable[[], None] = nobody; self._x: Any = 1"
    assert list(loose_attributes(text)) == ["self.on_done"]


def test_ties_are_made_in_few_places() -> None:
    assert {path.name for path in MODULES if list(ties(path.read_text()))} == TIED_BY
