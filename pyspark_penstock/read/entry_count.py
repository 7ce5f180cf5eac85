"""Counting entries along a stream, for batch limits and for tasks of equal size.

No Redis command tells the id of the hundred-thousandth entry. So the entries are read, and counted
by pages. That costs a fraction of decoding their values.
"""

from __future__ import annotations

from typing import NamedTuple

from pyspark_penstock.entry_id import EntryId
from pyspark_penstock.read.page import Page
from pyspark_penstock.read.positions import Cut
from pyspark_penstock.read.scan import Scan


class Counted(NamedTuple):
    """Where counting stopped: at the entry *id*, after *entries*; and the marks up to there.

    *all* says that the range has no further entry.
    """

    id: EntryId
    entries: int
    marks: tuple[Cut, ...]  # each with the count at it
    all: bool


def count_up_to(
    scan: Scan,
    *,
    most: int | None = None,
    most_bytes: int | None = None,
    step: int | None = None,
    pages: list[Cut] | None = None,
) -> Counted:
    """Count the entries of *scan*, at most *most*, or *most_bytes* of replies.

    At least one entry is counted, if there is one. There is a mark every *step* entries. The end of
    each page that was read is added to *pages*.
    """
    count, last, marks, before, whole = 0, scan.after, list[Cut](), 0, True
    for page in scan:
        if pages is not None:
            pages.append(Cut(id_at(page, len(page)), count + len(page)))
        taken = len(page) if most is None else min(len(page), most - count)
        if most_bytes is not None:
            taken = min(taken, entries_within(most_bytes - before, scan.bytes - before, len(page)))
            taken = max(taken, 0 if count else 1)
        if step is not None:
            first = step - count % step
            marks += [Cut(id_at(page, at), count + at) for at in range(first, taken + 1, step)]
        if taken:
            count, last = count + taken, id_at(page, taken)
        if taken < len(page) or count == most:
            whole = False
            break
        before = scan.bytes
    inner = tuple(mark for mark in marks if mark.id != last)  # a mark at the end is not a cut
    return Counted(last, count, inner, whole or last == scan.upto)


def count_entries(scan: Scan, pages: list[Cut] | None = None) -> int:
    """How many entries *scan* finds. O(n). The end of each page is added to *pages*."""
    return count_up_to(scan, pages=pages).entries


def entries_within(budget: int, size: int, entries: int) -> int:
    """How many entries of a page of *size* bytes fit into *budget*, if all are equally large."""
    return max(0, min(entries, entries * budget // size))


def id_at(page: Page, count: int) -> EntryId:
    """The id of the *count*-th entry of a page."""
    return EntryId.parse(page.ids[count - 1].as_py())
