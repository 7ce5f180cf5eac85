"""Further stacks of C: plain versions of the C functions in stack_calls.pxd.

    make() -> stack     enter(stack, serve, server)   serve(server) runs on it
                        leave(stack)                  suspends the caller, which runs on it
                        enter(stack, ...)             and resumes it: serve is not called again

Here there are none: plain Python cannot exchange its own stack.
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
    """Free it. Nothing must be suspended on it."""
    raise NotImplementedError


def enter(stack: Stack, serve: Callable[[Any], None], server: object) -> None:
    """Resume what is suspended on it, or call serve(server); until that returns or leaves."""
    raise NotImplementedError


def leave(stack: Stack) -> None:
    """Return to where *stack* was entered, until it is entered again."""
    raise NotImplementedError


def frame() -> int:
    """Which function of Python is the innermost that runs now; unlike any other that runs."""
    raise NotImplementedError
