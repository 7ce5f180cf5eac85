"""Stacks of C beside that of the process: plain versions of the C functions in stack_calls.pxd.

    make() -> stack     enter(stack, serve, server)   serve(server) runs on it
                        leave(stack)                  the caller, who runs on it, is left there
                        enter(stack, ...)             and taken up again: nothing is served anew

Here there are none: what Python runs on is not in its hands.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

Stack: TypeAlias = int


def are_there() -> bool:
    """Whether there can be such stacks. If not, none of the others is to be called."""
    return False


def make() -> Stack:
    """A new stack, with as much room as that of a process. Raises MemoryError."""
    raise NotImplementedError


def free(stack: Stack) -> None:
    """Free it. Nobody must have been left there."""
    raise NotImplementedError


def enter(stack: Stack, serve: Callable[[Any], None], server: object) -> None:
    """Take up who was left there, or else call serve(server); until it returns or is left."""
    raise NotImplementedError


def leave(stack: Stack) -> None:
    """Go on where *stack* was entered, until it is entered again."""
    raise NotImplementedError


def frame() -> int:
    """Which function of Python is the innermost that runs now; unlike any other that runs."""
    raise NotImplementedError
