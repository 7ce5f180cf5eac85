"""Links between pending entries: the plain versions of the C functions in links.pxd.

Compiled, a link is a bare pointer that keeps nothing alive. So links make no reference cycles and
objects that have no other references are not tracked by the collector, which is 16 bytes less each.
The owner of the entries must keep them alive, and must unlink one before it drops it. Nothing else
can be linked to, so who follows a link does not check what it leads to.
"""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def link_to(target: T | None) -> T | None:
    """A link to *target*; to nothing if that is None."""
    return target


def follow(link: T | None) -> T | None:
    """What *link* leads to, or None."""
    return link


def hold(_target: object) -> None:
    """Take a reference to an object, so that it stays alive."""


def let_go(_target: object) -> None:
    """Undo hold."""
