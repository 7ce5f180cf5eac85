"""What a function of Cython's own needs of the others, where Cython's list of that is wrong.

That is not seen as long as each module has all of them for other reasons: see shared_code.py.
Without it no module compiles that extends a bytearray (server/commands/strings/string_steps.py).
"""

from __future__ import annotations

from typing import Any

from Cython.Compiler.Code import UtilityCode
from Cython.Compiler.ModuleNode import ModuleNode


def complete_requirements() -> None:
    """Give every module the macros of critical sections, in this process and its forks.

    Functions that change a bytearray use them, and do not say so.
    """
    sections = UtilityCode.load_cached("CriticalSections", "Synchronization.c")
    generate = ModuleNode.generate_c_code

    def generate_with_sections(node: Any, *args: Any) -> None:
        node.scope.use_utility_code(sections)
        generate(node, *args)

    ModuleNode.generate_c_code = generate_with_sections
