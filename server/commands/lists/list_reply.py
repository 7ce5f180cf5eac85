"""Elements of a list as RESP, written straight from the bytes of the listpacks that hold them."""

from __future__ import annotations

from protocol.encoder import Encoder
from storage.lists.quicklist import QuickList
from storage.lists.quicklist_iterator import QuickListIterator


def write_range(out: Encoder, values: QuickList, start: int, stop: int) -> None:
    """Write the elements from index *start* to *stop* (from the end if negative) as an array."""
    first, count = values.bounds(start, stop)
    out.array(count)
    element: QuickListIterator = values.iterate(first)
    while count > 0 and element.next():
        if element.plain is not None:
            out.bulk(element.plain)
        elif element.is_int:
            out.bulk_int(element.number)
        elif element.data is not None:
            out.bulk_slice(element.data, element.start, element.size)
        count -= 1
