"""Intersections, unions and differences of sets: lists of different members.

A set that is None is empty. In a listpack, members are compared one after the other. So if many are
going to be looked for there, its members are put into a Python set first.
"""

from __future__ import annotations

from typing import TypeAlias

from storage.limits import SetLimits
from storage.listpack.listpack import Listpack
from storage.sets.member_set import MemberSet

Lookup: TypeAlias = MemberSet | set[bytes]  # what members are looked for in

FEW = 4  # members, that are rather looked for in a listpack itself


def intersection(sets: list[MemberSet | None]) -> list[bytes]:
    """The members that all *sets* have: those of the smallest one, if all others have them."""
    others = _by_size(sets)
    if not others:
        return []
    smallest = others.pop(0)
    lookups = _lookups(others, smallest.size())
    found = []
    member = smallest.walk()
    while member.next():
        text = member.value()
        if _is_in_all(text, lookups):
            found.append(text)
    return found


def intersection_size(sets: list[MemberSet | None], limit: int) -> int:
    """How many members all *sets* have; no more than *limit* are counted (0: all)."""
    others = _by_size(sets)
    if not others:
        return 0
    smallest = others.pop(0)
    lookups = _lookups(others, smallest.size())
    member = smallest.walk()
    found = 0
    while member.next():
        if _is_in_all(member.value(), lookups):
            found += 1
            if found == limit:
                break
    return found


def union(sets: list[MemberSet | None]) -> list[bytes]:
    """The members that any of *sets* has."""
    known: dict[bytes, None] = {}
    for values in sets:
        if values is not None:
            _add_all(known, values)
    return list(known)


def _add_all(known: dict[bytes, None], values: MemberSet) -> None:
    member = values.walk()
    while member.next():
        known[member.value()] = None


def union_size(sets: list[MemberSet | None], limit: int) -> int:
    """How many members any of *sets* has; no more than *limit* are counted (0: all).

    Only those that the largest set does not have are remembered. O(N).
    """
    found = sorted([values for values in sets if values is not None], key=len, reverse=True)
    if not found:
        return 0
    largest = found[0]
    size = largest.size()
    known: set[bytes] = set()
    for values in found[1:]:
        if limit and size + len(known) >= limit:
            break
        lookups = _lookups([largest], values.size())
        member = values.walk()
        while member.next():
            text = member.value()
            if not _is_in_any(text, lookups):
                known.add(text)
    size += len(known)
    return limit if 0 < limit < size else size


def difference_size(sets: list[MemberSet | None], limit: int) -> int:
    """How many members of the first of *sets* no other has; up to *limit* (0: all).

    As in difference(), they are looked for, or those of the others are.
    """
    first = sets[0]
    if first is None or first in sets[1:]:
        return 0
    others = [values for values in sets[1:] if values is not None]
    size = 0
    if _is_looked_for(first, others):
        others.sort(key=len, reverse=True)
        lookups = _lookups(others, first.size())
        member = first.walk()
        while member.next():
            if not _is_in_any(member.value(), lookups):
                size += 1
                if size == limit:
                    break
        return size
    known: set[bytes] = set()
    for values in others:
        lookups = _lookups([first], values.size())
        member = values.walk()
        while member.next():
            text = member.value()
            if _is_in_any(text, lookups):
                known.add(text)
    size = first.size() - len(known)
    return limit if 0 < limit < size else size


def difference(sets: list[MemberSet | None]) -> list[bytes]:
    """The members of the first of *sets* that no other has.

    1. If looking for each member in all other sets is less work than walking through these, members
       are looked for, in the largest set first.
    2. Otherwise the members of the other sets are removed from those of the first.
    """
    first = sets[0]
    if first is None or first in sets[1:]:
        return []
    others = [values for values in sets[1:] if values is not None]
    if _is_looked_for(first, others):  # 1
        others.sort(key=len, reverse=True)
        return _without_found(first, _lookups(others, first.size()))
    known: dict[bytes, None] = {}  # 2
    _add_all(known, first)
    for values in others:
        member = values.walk()
        while member.next():
            known.pop(member.value(), None)
    return list(known)


def difference_as_set(sets: list[MemberSet | None], limits: SetLimits) -> MemberSet:
    """difference() as a set. In case 2 its encoding is the one that all of the first set need."""
    first = sets[0]
    others = [values for values in sets[1:] if values is not None]
    if first is None or first in others or _is_looked_for(first, others):
        return as_set(difference(sets), limits)
    made = as_set(list(first), limits)
    for values in others:
        member = values.walk()
        while member.next():
            made.remove(member.value())
    return made


def _is_looked_for(first: MemberSet, others: list[MemberSet]) -> bool:
    """Whether it is the first case."""
    in_others = 0
    for values in others:
        in_others += values.size()
    return first.size() * (len(others) + 1) // 2 <= first.size() + in_others


def _without_found(values: MemberSet, lookups: list[Lookup]) -> list[bytes]:
    """The members of *values* that are in none of *lookups*."""
    left = []
    member = values.walk()
    while member.next():
        text = member.value()
        if not _is_in_any(text, lookups):
            left.append(text)
    return left


def as_set(members: list[bytes], limits: SetLimits) -> MemberSet:
    """A set of *members*, in the encoding that it gets when they are added one by one."""
    made = MemberSet()
    for member in members:
        made.add(member, limits)
    return made


# ---------------------------------------------------------------------- looking for members


def _by_size(sets: list[MemberSet | None]) -> list[MemberSet]:
    """*sets*, the smallest first; none if one of them is empty."""
    found = [values for values in sets if values is not None]
    return sorted(found, key=len) if len(found) == len(sets) else []


def _lookups(sets: list[MemberSet], members: int) -> list[Lookup]:
    """What so many *members* are looked for in."""
    found: list[Lookup] = []
    for values in sets:
        if members > FEW and isinstance(values.members, Listpack):
            found.append(set(values))
        else:
            found.append(values)
    return found


def _is_in_all(member: bytes, lookups: list[Lookup]) -> bool:
    for lookup in lookups:  # noqa: SIM110  compiled, this is faster
        if not _has(lookup, member):
            return False
    return True


def _is_in_any(member: bytes, lookups: list[Lookup]) -> bool:
    for lookup in lookups:  # noqa: SIM110  as above
        if _has(lookup, member):
            return True
    return False


def _has(lookup: Lookup, member: bytes) -> bool:
    if isinstance(lookup, MemberSet):
        values = lookup
        return values.has(member)
    return member in lookup
