"""A set read through borrowed references: the plain versions of borrowed_set.pxd.

See storage/rdb/borrowed.py for what that is and why.
"""

from __future__ import annotations

from typing import NamedTuple

from storage.listpack.listpack import Element, Listpack
from storage.rdb import raw
from storage.rdb.borrowed import Borrowed
from storage.sets.member_set import MemberSet

NUMBER = -1  # the size of a member that is an integer


class Member(NamedTuple):
    """A member in a listpack: the first *size* bytes of *octets*; *number* if *size* is NUMBER.

    *next* is the position of the member after it, or -1.
    """

    octets: raw.Raw
    size: int
    number: int
    next: int


def members(value: Borrowed) -> Borrowed:
    """The intset, listpack or table that the set *value* consists of."""
    found: MemberSet = value
    return found.members


def is_listpack(found: Borrowed) -> bool:
    """Whether *found*, which members() gave, is a listpack."""
    return isinstance(found, Listpack)


def of(value: Borrowed) -> Borrowed:
    """An ordinary reference, borrowed."""
    return value


def length(pack: Borrowed) -> int:
    """How many members the listpack *pack* has. O(1): they have been counted."""
    count: int = pack.count
    return count


def member_at(pack: Borrowed, at: int) -> Member:
    """The member at the position *at* of the listpack *pack*; the first is at 6. O(1)."""
    element = Element()
    following = pack.read(at, element)
    if element.is_int:
        return Member(b"", NUMBER, element.number, following)
    text = pack.data[element.start : element.start + element.size]
    return Member(text, element.size, 0, following)
