"""A module's C holds those inline functions of .pxd files that the module reaches.

Cython by itself writes into each module the inline functions of all .pxd files that it knows: those
of ``octets.pxd`` alone are more C than most modules have of their own. The C compiler reads all of
them and drops nearly all. Here they are left out from the start. What is left compiles to the
same instructions.

Without it, in every twelfth of 250 modules: 19.0 MB of C in place of 11.5. Nor would it compile, as
all .pxd files are read at once (translation.py): a module would get functions on types that it does
not know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from Cython.Compiler import Pipeline
from Cython.Compiler.Visitor import TreeVisitor

# Cython's ModuleNode, ModuleScope, Context and nodes of functions have no types.
Node = Any
Scope = Any
Context = Any


class CalledFunctions(TreeVisitor):  # type: ignore[misc]  # Cython has no types
    """Collects the C names of the functions that a tree refers to, in *names*."""

    def __init__(self, tree: Node) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.visit(tree)

    def visit_Node(self, node: Node) -> None:  # noqa: N802  # called by this name
        entry = getattr(node, "entry", None)
        if entry is not None and entry.type.is_cfunction:
            self.names.update(c_names(entry))
        self.visitchildren(node)


def c_names(entry: Any) -> set[str]:
    """The names of the C function of *entry*: a final method has one more than other functions."""
    return {entry.func_cname, entry.final_func_cname} - {None}


def reached_functions(module: Node, pxds: Iterable[tuple[Node, Scope]]) -> set[str]:
    """The C names of what *module* and its own .pxd call, directly or through inline functions."""
    bodies: dict[str, Node] = {}
    waiting = [module]
    for functions, scope in pxds:
        for function in functions.stats:
            bodies.update((name, function) for name in c_names(function.entry))
        if scope is module.scope:
            waiting += functions.stats
    reached: set[str] = set()
    while waiting:
        called = CalledFunctions(waiting.pop()).names - reached
        reached |= called
        waiting += [bodies[name] for name in called if name in bodies]
    return reached


def cimported(scope: Scope, known: set[Scope]) -> set[Scope]:
    """Add to *known* the module of *scope* and all that it cimports, directly or not; return it."""
    if scope not in known:
        known.add(scope)
        for other in scope.cimported_modules:
            cimported(other, known)
    return known


def inject_reached_functions(context: Context) -> Callable[[Node], Node]:
    """A stage of Cython's pipeline, in place of the one that injects the code of all .pxd files."""

    def inject_pxd_code_stage(module: Node) -> Node:
        pxds = list(context.functions.values())
        reached = reached_functions(module, pxds)
        known = cimported(module.scope, set())
        for functions, scope in pxds:
            if scope not in known:
                continue
            if scope is not module.scope:
                for entry in scope.cfunc_entries:
                    entry.used = not reached.isdisjoint(c_names(entry))
                functions.stats = [
                    function
                    for function in functions.stats
                    if not reached.isdisjoint(c_names(function.entry))
                ]
            module.merge_in(functions, scope, stage="pxd")
        return module

    return inject_pxd_code_stage


def leave_out_unreached_functions() -> None:
    """Let Cython do so, from now on, in this process and its forks."""
    Pipeline.inject_pxd_code_stage_factory = inject_reached_functions
