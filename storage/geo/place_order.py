# cython: boundscheck=False, wraparound=False
"""Places that were found, in the order of their distances. See place_marks.py for their bytes.

*order* is ASCENDING or DESCENDING. Which of those with the same distance come first is seen by
clients, so both ways of sorting are those of Redis:

    sort        all of them: a merge sort, which keeps the order of equal ones
    sort_first  the first few of many: the quicksort of Bentley and McIlroy ("Engineering a sort
                function", 1993), which does not. It sorts only the parts that those are in.
"""

from __future__ import annotations

from typing import Final

from storage.geo import place_marks

UNSORTED: Final = 0
ASCENDING: Final = 1
DESCENDING: Final = -1
FEW: Final = 7  # fewer than this are never parted
MANY: Final = 40  # more than this are merged, or parted by a pivot that is the median of nine


# ---------------------------------------------------------------------- all


def sort(marks: bytearray, count: int, order: int) -> None:
    """Sort the first *count* marks. O(count * log count), with room for as many again."""
    if count <= MANY:
        _sort_few(marks, 0, count, order)  # this keeps the order of equal ones, too
        return
    source, target = marks, bytearray(len(marks))
    width = 1
    while width < count:
        at = 0
        while at < count:
            middle = min(at + width, count)
            end = min(middle + width, count)
            _merge(target, source, at, middle, end, order)
            at = end
        source, target = target, source
        width *= 2
    if source is not marks:
        place_marks.copy(marks, 0, source, 0, count)


def _merge(
    target: bytearray, source: bytearray, first: int, middle: int, end: int, order: int
) -> None:
    """Merge ``source[first:middle]`` and ``source[middle:end]``, each sorted, into *target*."""
    at, left, right = first, first, middle
    while left < middle and right < end:
        if place_marks.order(source, left, right) * order <= 0:
            place_marks.copy(target, at, source, left, 1)
            left += 1
        else:
            place_marks.copy(target, at, source, right, 1)
            right += 1
        at += 1
    place_marks.copy(target, at, source, left, middle - left)
    place_marks.copy(target, at + middle - left, source, right, end - right)


# ---------------------------------------------------------------------- the first few


def sort_first(marks: bytearray, count: int, first: int, order: int) -> None:
    """Sort *count* marks so far that the *first* ones are in place. O(count) expected."""
    _sort_part(marks, 0, count, first, order)


def _sort_part(marks: bytearray, begin: int, end: int, first: int, order: int) -> None:
    """Sort ``marks[begin:end]`` so far that those before number *first* are in place.

    A pivot parts them into lesser, equal and greater ones. The smaller part is sorted by a call,
    the larger one by the next round, so calls are not deeper than log2(end - begin).
    """
    while end - begin >= FEW and begin < first:
        place_marks.swap(marks, begin, _pivot(marks, begin, end, order))
        lesser, greater = _partition(marks, begin, end, order)
        if lesser < greater:
            _sort_part(marks, begin, begin + lesser, first, order)
            begin = end - greater
        else:
            _sort_part(marks, end - greater, end, first, order)
            end = begin + lesser
    if begin < first:
        _sort_few(marks, begin, end, order)


def _sort_few(marks: bytearray, begin: int, end: int, order: int) -> None:
    for newest in range(begin + 1, end):
        at = newest
        while at > begin and place_marks.order(marks, at - 1, at) * order > 0:
            place_marks.swap(marks, at - 1, at)
            at -= 1


def _pivot(marks: bytearray, begin: int, end: int, order: int) -> int:
    """The middle one, the median of three, or of the medians of three threes."""
    count = end - begin
    middle = begin + (count >> 1)
    if count == FEW:
        return middle
    low, high = begin, end - 1
    if count > MANY:
        apart = count >> 3
        low = _median(marks, low, low + apart, low + 2 * apart, order)
        middle = _median(marks, middle - apart, middle, middle + apart, order)
        high = _median(marks, high - 2 * apart, high - apart, high, order)
    return _median(marks, low, middle, high, order)


def _median(marks: bytearray, one: int, two: int, three: int, order: int) -> int:
    """Which of the three is in the middle."""
    if place_marks.order(marks, one, two) * order < 0:
        if place_marks.order(marks, two, three) * order < 0:
            return two
        return three if place_marks.order(marks, one, three) * order < 0 else one
    if place_marks.order(marks, two, three) * order > 0:
        return two
    return one if place_marks.order(marks, one, three) * order < 0 else three


def _partition(marks: bytearray, begin: int, end: int, order: int) -> tuple[int, int]:
    """Part ``marks[begin:end]`` by the pivot at *begin*; how many are lesser, how many greater.

    1. From both ends inward, what is on the wrong side is exchanged. Equal ones go to the ends:

           equal | lesser | not seen yet | greater | equal
                 ^        ^             ^         ^
           low_equal     low           high   high_equal

    2. The equal ones are exchanged with as many of the middle: lesser | equal | greater
    """
    low = low_equal = begin + 1
    high = high_equal = end - 1
    while True:  # 1
        while low <= high and (found := place_marks.order(marks, low, begin) * order) <= 0:
            if found == 0:
                place_marks.swap(marks, low_equal, low)
                low_equal += 1
            low += 1
        while low <= high and (found := place_marks.order(marks, high, begin) * order) >= 0:
            if found == 0:
                place_marks.swap(marks, high, high_equal)
                high_equal -= 1
            high -= 1
        if low > high:
            break
        place_marks.swap(marks, low, high)
        low += 1
        high -= 1
    lesser, greater = low - low_equal, high_equal - high
    count = min(low_equal - begin, lesser)  # 2
    _swap_runs(marks, begin, low - count, count)
    count = min(greater, end - 1 - high_equal)
    _swap_runs(marks, low, end - count, count)
    return lesser, greater


def _swap_runs(marks: bytearray, one: int, other: int, count: int) -> None:
    for at in range(count):
        place_marks.swap(marks, one + at, other + at)
