"""Intersections, unions and differences of sets. A set that is None is empty."""

from __future__ import annotations

from storage.set_limits import SetLimits
from storage.sets.member_set import MemberSet


def intersection(sets: list[MemberSet | None], limits: SetLimits) -> MemberSet:
    """The members that all *sets* have: those of the smallest one, if all others have them."""
    made = MemberSet()
    others = _by_size(sets)
    if not others:
        return made
    smallest = others.pop(0)
    member = smallest.walk()
    while member.next():
        text = member.value()
        if _is_in_all(text, others):
            made.add(text, limits)
    return made


def intersection_size(sets: list[MemberSet | None], limit: int) -> int:
    """How many members all *sets* have; no more than *limit* are counted (0: all)."""
    others = _by_size(sets)
    if not others:
        return 0
    smallest = others.pop(0)
    member = smallest.walk()
    found = 0
    while member.next():
        if _is_in_all(member.value(), others):
            found += 1
            if found == limit:
                break
    return found


def union(sets: list[MemberSet | None], limits: SetLimits) -> MemberSet:
    """The members that any of *sets* has."""
    made = MemberSet()
    for values in sets:
        if values is not None:
            _add_all(made, values, limits)
    return made


def difference(sets: list[MemberSet | None], limits: SetLimits) -> MemberSet:
    """The members of the first of *sets* that no other has.

    1. If looking for each member in all other sets is less work than walking through these, members
       are looked for, in the largest set first.
    2. Otherwise the members of the other sets are removed from a copy of the first.
    """
    made = MemberSet()
    first = sets[0]
    if first is None or first in sets[1:]:
        return made
    others = [values for values in sets[1:] if values is not None]
    in_others = 0
    for values in others:
        in_others += values.size()
    if first.size() * (len(others) + 1) // 2 <= first.size() + in_others:  # 1
        others.sort(key=len, reverse=True)
        member = first.walk()
        while member.next():
            text = member.value()
            if not _is_in_any(text, others):
                made.add(text, limits)
        return made
    _add_all(made, first, limits)  # 2
    for values in others:
        _remove_all(made, values)
    return made


def _by_size(sets: list[MemberSet | None]) -> list[MemberSet]:
    """*sets*, the smallest first; none if one of them is empty."""
    found = [values for values in sets if values is not None]
    return sorted(found, key=len) if len(found) == len(sets) else []


def _is_in_all(member: bytes, sets: list[MemberSet]) -> bool:
    for values in sets:  # noqa: SIM110  compiled, this is faster
        if not values.has(member):
            return False
    return True


def _is_in_any(member: bytes, sets: list[MemberSet]) -> bool:
    for values in sets:  # noqa: SIM110  as above
        if values.has(member):
            return True
    return False


def _add_all(made: MemberSet, values: MemberSet, limits: SetLimits) -> None:
    member = values.walk()
    while member.next():
        made.add(member.value(), limits)


def _remove_all(made: MemberSet, values: MemberSet) -> None:
    member = values.walk()
    while member.next():
        made.remove(member.value())
