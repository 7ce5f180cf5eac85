"""Directives above a class in a .pxd hold for the class, as ``@cython.no_gc`` and ``freelist(8)``.

Cython itself puts those of the .py in their place, where there are none. Without ``no_gc`` an
object takes 16 bytes more, and the collector looks at it.
"""

from __future__ import annotations

from typing import Any

from Cython.Compiler.Nodes import CClassDefNode

CLASS_DIRECTIVES = ("no_gc", "freelist")


def keep_class_directives() -> None:
    """Let CLASS_DIRECTIVES that stand above a class in a .pxd hold, from now on."""
    analyse = CClassDefNode.analyse_declarations

    def analyse_and_keep(node: CClassDefNode, env: Any) -> None:
        entry = env.lookup_here(node.class_name)
        scope = entry.type.scope if entry is not None and entry.is_type else None
        declared = dict(scope.directives) if scope is not None else {}
        analyse(node, env)
        kept = {name: declared[name] for name in CLASS_DIRECTIVES if declared.get(name)}
        if kept:
            node.scope.directives = {**node.scope.directives, **kept}

    CClassDefNode.analyse_declarations = analyse_and_keep
