"""Walks: going along a stream to count its entries, for limits and equal shares.

No command of Redis says which entry is the hundred-thousandth. So the entries are read, and
counted by whole pages; a page costs the client a fraction of what decoding its values would.
"""

from __future__ import annotations

from typing import NamedTuple

from pyspark_penstock.connect.address import Server
from pyspark_penstock.entry_id import EntryId
from pyspark_penstock.read.offsets import Cut
from pyspark_penstock.read.page import Page
from pyspark_penstock.read.scan import Scan


class Walked(NamedTuple):
    """Where a walk ended: at entry *id*, *entries* further; and the marks on the way.

    *all* says that no entry was left before the range ended.
    """

    id: EntryId
    entries: int
    marks: tuple[Cut, ...]  # each with the count at it
    all: bool


def walk(
    server: Server,
    stream: str,
    after: EntryId,
    upto: EntryId,
    *,
    most: int | None = None,
    most_bytes: int | None = None,
    step: int | None = None,
    page_size: int,
    wait: bool = False,
) -> Walked:
    """Go from *after* towards *upto*, over *most* entries or *most_bytes* of answers.

    At least one entry is passed, if there is one. A mark is left every *step* entries. With *wait*
    nothing is taken for the end before the server has come as far as *upto*.
    """
    scan = Scan(server, stream, after, upto, page_size, wait=wait)
    count, last, marks, before, whole = 0, after, list[Cut](), 0, True
    for page in scan:
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
    inner = tuple(mark for mark in marks if mark.id != last)  # one at the end cuts nothing off
    return Walked(last, count, inner, whole or last == upto)


def count_entries(
    server: Server,
    stream: str,
    after: EntryId,
    upto: EntryId,
    page_size: int,
    *,
    wait: bool = False,
) -> int:
    """How many entries there are in (after, upto]. O(n)."""
    return walk(server, stream, after, upto, page_size=page_size, wait=wait).entries


def entries_within(budget: int, size: int, entries: int) -> int:
    """How many of a page's entries fit into *budget* bytes, if all are of the same size."""
    return max(0, min(entries, entries * budget // size))


def id_at(page: Page, count: int) -> EntryId:
    """The id of the entry that is the *count*-th of a page."""
    return EntryId.parse(page.ids[count - 1].as_py())
