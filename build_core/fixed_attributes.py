"""Which attributes of compiled classes are fixed: set while the object is made, and never again.

What a fixed attribute refers to lives as long as the object itself. So it can be called without
holding it first: see held_receivers.py. Were each of them held, GET in a pipeline would take 1.6 %
more instructions, SET 1.5 %, XADD 0.6 %; a build would take 2 seconds less of CPU. An attribute is
fixed if nothing but these sets it:

    def __init__(self, ...):             of its class, or of a class that inherits it
        self.attribute = ...
    made = Class.__new__(Class)          a function that makes one, and has the only reference
    made.attribute = ...

All sources of the packages are read, compiled or not. Where it cannot be told which class a line
sets an attribute of, it counts for every class that has an attribute of this name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

# In C: an attribute that an inline function of a .pxd sets.
_SET_IN_PXD = re.compile(r"\.(\w+) *(?:[-+*/|&^]|<<|>>|//)?=(?!=)")
_WORD = re.compile(r"\w+")
ANY = ""  # stands for every class


class FixedAttributes:
    """Knows the attributes that are set later, of all modules in *packages*. O(sources)."""

    def __init__(self, packages: Iterable[str]) -> None:
        self._bases: dict[str, list[str]] = {}  # class -> its bases, by their names alone
        self._set_later: set[tuple[str, str]] = set()  # class, or ANY, and attribute
        self._declared: set[str] = set()  # all words of .pxd files
        for package in packages:
            for source in sorted(Path(package).rglob("*.py")):
                self._read(ast.parse(source.read_text()))
            for source in sorted(Path(package).rglob("*.pxd")):
                text = source.read_text()
                self.set_later(ANY, _SET_IN_PXD.findall(text))
                self._declared.update(_WORD.findall(text))

    def summary(self) -> str:
        """What the C of any module depends on: the attributes of compiled classes set later."""
        relevant = sorted(pair for pair in self._set_later if pair[1] in self._declared)
        return repr((relevant, sorted(self._bases.items())))

    def set_later(self, owner: str, attributes: Iterable[str]) -> None:
        self._set_later.update((owner, attribute) for attribute in attributes)

    def has(self, owner: str, attribute: str) -> bool:
        """Whether *attribute*, which class *owner* declares, is fixed."""
        if (ANY, attribute) in self._set_later:
            return False
        return not any(
            name == attribute and self._inherits(setter, owner) for setter, name in self._set_later
        )

    def _inherits(self, name: str, base: str) -> bool:
        return name == base or any(self._inherits(one, base) for one in self._bases.get(name, ()))

    # ------------------------------------------------------------------ reading sources

    def _read(self, module: ast.Module) -> None:
        for node in module.body:
            if isinstance(node, ast.ClassDef):
                self._read_class(node)
            else:
                self._read_function(node, None)

    def _read_class(self, node: ast.ClassDef) -> None:
        bases = [ast.unparse(base).rpartition(".")[2] for base in node.bases]
        self._bases.setdefault(node.name, []).extend(bases)
        for member in node.body:
            self._read_function(member, node.name)

    def _read_function(self, node: ast.AST, owner: str | None) -> None:
        """Note what *node*, in the class *owner* if any, sets of an object that others may know."""
        new = set(_made(node))
        if owner is not None and getattr(node, "name", "") == "__init__":
            new.add("self")
        for part in _parts(node):
            if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
                self._read_function(part, owner)  # it may run later
            elif isinstance(part, ast.Attribute) and not isinstance(part.ctx, ast.Load):
                whose = ast.unparse(part.value)
                if whose not in new:
                    self.set_later(owner if owner and whose == "self" else ANY, [part.attr])


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """All that is in *node*; of functions in it, these only and not what is in them."""
    for part in ast.iter_child_nodes(node):
        yield part
        if not isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _parts(part)


def _made(node: ast.AST) -> Iterator[str]:
    """The variables of *node* that hold a new object: ``made = Class.__new__(Class)``."""
    for part in _parts(node):
        if isinstance(part, ast.Assign) and ".__new__(" in ast.unparse(part.value):
            yield ast.unparse(part.targets[0])
