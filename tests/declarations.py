"""Checks that each .pxd agrees with the .py beside it: ``python -m tests.declarations``.

Cython ignores most disagreements. They cost only speed: a variable that was meant to be a C integer
becomes a Python object, which no test of behaviour notices.

Cython's own parser reads the .pxd, and ``ast`` reads the .py. Each of these is a fault:

- a class, function, method, attribute or variable that is declared and not defined;
- an attribute of a declared class that is not declared, though it is in the ``__slots__``, or is
  set by the ``__init__`` of a class without them and without bases;
- a method that another class of the module defines;
- a function whose arguments differ in name, number or defaults (``=*``);
- ``cython.locals`` with a name that the function below it does not bind;
- ``cython.locals`` twice above one function, or above something that is not a function.

A module of inline functions is written twice, in C in its .pxd and in Python in its .py. There
each public function of the .py must be in the .pxd too, with the same arguments; the .pxd can have
more.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from Cython.Compiler import Nodes
from Cython.Compiler.Errors import init_thread
from Cython.Compiler.TreeFragment import StringParseContext, parse_from_strings

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("octets", "protocol", "storage", "server")
INLINE_ONLY = "# inline only"  # the .pxd holds whole functions, and its .py is never compiled


@dataclass(frozen=True)
class Function:
    """A function of either file: its arguments, and how many of the last ones have defaults."""

    arguments: tuple[str, ...]
    defaults: int
    names: frozenset[str] = frozenset()  # .pxd: the names in cython.locals; .py: all that are bound

    def plain(self) -> str:
        """The signature without the leading underscores of unused arguments."""
        return str(replace(self, arguments=tuple(word.lstrip("_") for word in self.arguments)))

    def __str__(self) -> str:
        required = len(self.arguments) - self.defaults
        words = [name + "=*" * (at >= required) for at, name in enumerate(self.arguments)]
        return f"({', '.join(words)})"


@dataclass
class Scope:
    """A class or a module: its functions, and its variables or attributes."""

    functions: dict[str, Function] = field(default_factory=dict)
    variables: set[str] = field(default_factory=set)
    slots: set[str] = field(default_factory=set)  # .py: what must be declared


@dataclass
class Module(Scope):
    inline: dict[str, Function] = field(default_factory=dict)  # functions with a body in the .pxd
    classes: dict[str, Scope] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)


# ---------------------------------------------------------------------- the .pxd


def declared(source: str, name: str) -> Module:
    """What a .pxd declares, and the inline functions that it defines."""
    init_thread()
    tree = parse_from_strings(name, source, context=StringParseContext(name), level="module_pxd")
    module = Module()
    _declare(tree.body, module, module)
    return module


def _declare(node: Any, scope: Scope, module: Module) -> None:
    """Record in *scope* what *node* declares."""
    match node:
        case Nodes.StatListNode():
            for statement in node.stats:
                _declare(statement, scope, module)
        case Nodes.CClassDefNode():
            owner = module.classes.setdefault(node.class_name, Scope())
            if node.body is not None:
                _declare(node.body, owner, module)
        case Nodes.CVarDefNode():
            _declare_names(node, scope, module)
        case Nodes.CFuncDefNode():
            function = _without_pointers(node.declarator)
            module.inline[function.base.name] = _signature(function)


def _signature(function: Any, names: frozenset[str] = frozenset()) -> Function:
    arguments = [_argument(argument) for argument in function.args]
    words = tuple(word for word, _ in arguments)
    return Function(words, sum(has_default for _, has_default in arguments), names)


def _declare_names(node: Any, scope: Scope, module: Module) -> None:
    """Record the functions or variables of one ``cdef`` or ``cpdef``."""
    groups = [group for group in map(_locals_of, node.decorators or ()) if group is not None]
    for declarator in node.declarators:
        function = _without_pointers(declarator)
        if isinstance(function, Nodes.CFuncDeclaratorNode):
            name = function.base.name
            if len(groups) > 1:
                module.faults.append(f"{name}: cython.locals stands above it more than once")
            scope.functions[name] = _signature(function, frozenset().union(*groups))
        else:
            name = function.name
            if groups:
                module.faults.append(
                    f"{name}: cython.locals stands above it, and it is no function"
                )
            scope.variables.add(name)


def _without_pointers(declarator: Any) -> Any:
    """The declarator of x in ``*x`` and ``x[8]``."""
    while isinstance(declarator, Nodes.CPtrDeclaratorNode | Nodes.CArrayDeclaratorNode):
        declarator = declarator.base
    return declarator


def _argument(argument: Any) -> tuple[str, bool]:
    """An argument's name, and whether it has a default. Untyped, its name is parsed as a type."""
    declarator = _without_pointers(argument.declarator)
    name = declarator.name or argument.base_type.name
    return str(name), argument.default is not None or declarator.default is not None


def _locals_of(decorator: Any) -> frozenset[str] | None:
    """The names in a ``@cython.locals(...)``; None for another decorator."""
    call = decorator.decorator
    if getattr(getattr(call, "function", None), "attribute", "") != "locals":
        return None
    return frozenset(str(item.key.value) for item in call.keyword_args.key_value_pairs)


# ---------------------------------------------------------------------- the .py


def defined(source: str) -> Module:
    """What a .py defines."""
    tree = ast.parse(source)
    module = Module()
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            module.classes[node.name] = _class(node)
    module.functions = _functions(tree)
    module.variables = set(_bound(tree))
    return module


def _class(node: ast.ClassDef) -> Scope:
    """A class; its attributes are bound in its body, in ``__slots__``, or by a method."""
    variables = set(_bound(node))
    slots: set[str] = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store):
            variables.add(part.attr)
        elif isinstance(part, ast.Assign) and ast.unparse(part.targets[0]) == "__slots__":
            slots |= set(ast.literal_eval(part.value))
    if not slots and not node.bases:  # a base may be of another module
        slots = set(_set_first(node))
    return Scope(_functions(node), variables | slots, slots)


def _set_first(node: ast.ClassDef) -> Iterator[str]:
    """The attributes that ``__init__`` sets."""
    for method in node.body:
        if isinstance(method, ast.FunctionDef) and method.name == "__init__":
            attributes = [part for part in ast.walk(method) if isinstance(part, ast.Attribute)]
            for part in attributes:
                if isinstance(part.ctx, ast.Store) and ast.unparse(part.value) == "self":
                    yield part.attr


def _functions(scope: ast.Module | ast.ClassDef) -> dict[str, Function]:
    return {node.name: _function(node) for node in scope.body if isinstance(node, ast.FunctionDef)}


def _function(node: ast.FunctionDef) -> Function:
    arguments = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
    others = [argument for argument in (node.args.vararg, node.args.kwarg) if argument]
    names = tuple(argument.arg for argument in arguments)
    given = [default for default in node.args.kw_defaults if default is not None]
    bound = frozenset([*names, *(argument.arg for argument in others), *_bound(node)])
    return Function(names, len(node.args.defaults) + len(given), bound)


def _bound(scope: ast.AST) -> Iterator[str]:
    """The names that are bound in *scope* itself and not in a function or class inside it."""
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.alias):
            yield node.asname or node.name
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name
        if not isinstance(node, ast.Lambda):
            yield from _bound(node)


# ---------------------------------------------------------------------- both


def faults(pxd: str, py: str, name: str = "module") -> list[str]:
    """The faults of the declarations *pxd* for the module *py*, as lines of text."""
    ours, theirs = declared(pxd, name), defined(py)
    found = [*ours.faults, *_faults_of_scope(ours, theirs, "")]
    for owner, scope in ours.classes.items():
        if owner not in theirs.classes:
            found.append(f"{owner}: declared, but not defined")
        else:
            found += _faults_of_scope(scope, theirs.classes[owner], f"{owner}.")
    if pxd.startswith(INLINE_ONLY):
        found += _faults_of_twins(ours.inline, theirs.functions)
    return found


def _faults_of_twins(ours: dict[str, Function], theirs: dict[str, Function]) -> Iterator[str]:
    for name, function in theirs.items():
        if name.startswith("_"):  # a helper of the Python alone
            continue
        if name not in ours:
            yield f"{name}(): not in the .pxd"
        elif ours[name].plain() != function.plain():
            yield f"{name}(): {ours[name].plain()} in C, {function.plain()} in Python"


def _faults_of_scope(ours: Scope, theirs: Scope, owner: str) -> Iterator[str]:
    for name in sorted(ours.variables - theirs.variables):
        yield f"{owner}{name}: declared, but not defined"
    for name in sorted(theirs.slots - ours.variables):
        yield f"{owner}{name}: defined, but not declared"
    for name, function in ours.functions.items():
        if name not in theirs.functions:
            yield f"{owner}{name}(): declared, but not defined"
            continue
        real = theirs.functions[name]
        if (function.arguments, function.defaults) != (real.arguments, real.defaults):
            yield f"{owner}{name}(): declared with {function}, defined with {real}"
        for local in sorted(function.names - real.names):
            yield f"{owner}{name}(): cython.locals names {local}, which it does not bind"


def declarations() -> list[Path]:
    """Every .pxd that has a .py beside it."""
    return [
        pxd
        for package in PACKAGES
        for pxd in sorted((ROOT / package).rglob("*.pxd"))
        if pxd.name != "__init__.pxd"
    ]


def main() -> int:
    """Print the faults of all modules. Return the exit status: 1 if there are any."""
    found = [
        f"{pxd.relative_to(ROOT)}: {fault}"
        for pxd in declarations()
        for fault in faults(pxd.read_text(), pxd.with_suffix(".py").read_text(), pxd.stem)
    ]
    print("\n".join(found) or f"Every .pxd agrees with its .py: {len(declarations())} modules")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
