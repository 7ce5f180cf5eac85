"""Parts know each other by types: nobody sets a callable of another part, and no part is an Any."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULES = sorted((ROOT / "server").rglob("*.py"))

# What gives parts what they know by a protocol or a base class only: app.py, but for the road of a
# command, and for who hears of a role.
TIED_BY = {"app.py", "dispatcher.py", "role_changes.py"}
TIES = (
    ".addresses", ".broadcasts.turn", ".caller", ".feed.turn", ".listener", ".pipes", ".shutdown",
    ".timers",
)  # fmt: skip
TABLE = {"self.handler"}  # of a command: a row of the table, which nobody sets later


def loose_attributes(source: str) -> Iterator[str]:
    """The public attributes that *source* declares as a callable, by whatever name, or as Any."""
    tree = ast.parse(source)
    loose = {"Callable", "Any", *callables(tree)}
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Attribute):
            kinds = {name.id for name in ast.walk(node.annotation) if isinstance(name, ast.Name)}
            is_public = not node.target.attr.startswith("_")
            if is_public and not kinds.isdisjoint(loose) and not is_held(node.annotation):
                yield ast.unparse(node.target)


def callables(tree: ast.Module) -> Iterator[str]:
    """The names that stand for a callable: aliases, and protocols of ``__call__`` alone."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            methods = [each.name for each in node.body if isinstance(each, ast.FunctionDef)]
            if methods == ["__call__"]:
                yield node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if ast.unparse(node.value).startswith("Callable["):
                yield ast.unparse(target)


def is_held(kind: ast.expr) -> bool:
    """Whether it is a container: what it holds is no part."""
    text = ast.unparse(kind)
    return "[" in text and not text.startswith("Callable[")


def ties(source: str) -> Iterator[str]:
    """The ties that *source* sets on other objects than its own."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                own = isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self"
                if not own and ast.unparse(target).endswith(TIES):
                    yield ast.unparse(target)


def test_no_part_has_a_callable_that_others_set() -> None:
    found = {name: path.name for path in MODULES for name in loose_attributes(path.read_text())}
    assert found.keys() == TABLE


@pytest.mark.parametrize("kind", ["Callable[[], None]", "_Named", "_Pause", "_Pause | None"])
def test_a_loose_attribute_is_seen(kind: str) -> None:
    text = f"""
_Named = Callable[[], None]
class _Pause(Protocol):
    def __call__(self) -> None: ...
def __init__(self): self.on_done: {kind} = nobody; self._x: Any = 1; self.all: list[Any] = []
"""
    assert list(loose_attributes(text)) == ["self.on_done"]


def test_ties_are_made_in_few_places() -> None:
    assert {path.name for path in MODULES if list(ties(path.read_text()))} == TIED_BY
