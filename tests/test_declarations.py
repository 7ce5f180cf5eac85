"""What a .pxd declares is there in the .py beside it: Cython passes over what is not in silence.

A function that is gone, or locals that stand above the wrong one, cost nothing but speed: the
variables that they were meant for become Python objects, and no other test would see it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

CLASS = re.compile(r"cdef class (\w+)")
LOCALS = re.compile(r"@cython\.locals\((.*)\)$")
FUNCTION = re.compile(r"(?:cdef|cpdef|def)\b[^(]*?(?:\([\w, ]+\) )?(\w+)\(")
VARIABLE = re.compile(r"cdef (?:public |readonly )?[\w.]+(?:\[[\w, ]+\])?[ *]+(\w+)$")


def declared_modules() -> list[Path]:
    """The .py of every module with a .pxd, but for those that the .pxd holds all of."""
    return [
        pxd.with_suffix(".py")
        for package in ("protocol", "storage", "server")
        for pxd in sorted((ROOT / package).rglob("*.pxd"))
        if pxd.name != "__init__.pxd" and not pxd.read_text().startswith("# inline only")
    ]


def logical_lines(source: str) -> Iterator[str]:
    """Lines without comments, those within brackets joined to one."""
    line = ""
    for part in source.splitlines():
        line += part.split("#")[0].rstrip() if not line else f" {part.split('#')[0].strip()}"
        if line.count("(") <= line.count(")"):
            yield line
            line = ""


def declared(source: str) -> set[str]:
    """What a .pxd declares: ``Class``, ``Class.method``, ``Class.method: local``, ``variable``."""
    names, owner, own_locals = set(), "", set()
    for line in logical_lines(source):
        text = line.strip()
        if text and not line.startswith(" "):
            owner = ""
        if found := CLASS.match(text):
            names.add(found[1])
            owner = f"{found[1]}."
        elif found := LOCALS.match(text):
            own_locals = set(re.findall(r"(\w+)=", found[1]))
        elif text.endswith(":"):
            own_locals = set()  # an inline function, which has its body there
        elif found := FUNCTION.match(text):
            names.add(owner + found[1])
            names |= {f"{owner}{found[1]}: {name}" for name in own_locals}
            own_locals = set()
        elif found := VARIABLE.match(text):
            names.add(owner + found[1])
    return names


def defined(source: str) -> set[str]:
    """What a module defines, in the same words; a class has the attributes that it ever names."""
    module = ast.parse(source)
    names = bound_names(module)
    for node in module.body:
        if isinstance(node, ast.FunctionDef):
            names |= {f"{node.name}: {name}" for name in bound_names(node)}
        elif isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{name}" for name in attributes(node)}
            for part in ast.walk(node):
                if isinstance(part, ast.FunctionDef):
                    names |= {f"{node.name}.{part.name}: {name}" for name in bound_names(part)}
    return names


def bound_names(scope: ast.AST) -> set[str]:
    """Every name that is bound within: arguments, variables, functions, classes, imports."""
    names = set()
    for node in ast.walk(scope):
        if isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name)
    return names


def attributes(owner: ast.ClassDef) -> set[str]:
    """The methods and attributes of a class: those of ``__slots__``, annotated, or assigned."""
    names = bound_names(owner)
    for node in ast.walk(owner):
        if isinstance(node, ast.Attribute):
            names.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names.add(node.value)
    return names


@pytest.mark.parametrize("module", declared_modules(), ids=lambda m: str(m.relative_to(ROOT)))
def test_a_pxd_declares_nothing_that_is_not_there(module: Path) -> None:
    missing = declared(module.with_suffix(".pxd").read_text()) - defined(module.read_text())
    assert not missing


def test_locals_above_another_function_are_found() -> None:
    pxd = "cdef class A:\n    @cython.locals(i=int,\n        j=int)\n    cdef int f(self)\n"
    assert declared(pxd) == {"A", "A.f", "A.f: i", "A.f: j"}
    missing = declared(pxd) - defined("class A:\n    def f(self):\n        i = 1\n")
    assert missing == {"A.f: j"}
