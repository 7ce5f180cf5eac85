"""Elements of a list as RESP, written straight from the bytes of the listpacks that hold them."""

from __future__ import annotations

from protocol.encoder import Encoder
from server.commands.shared import packed_reply
from storage.lists.quicklist import QuickList
from storage.lists.quicklist_iterator import QuickListIterator


def write_range(out: Encoder, values: QuickList, start: int, stop: int) -> None:
    """Write the elements from index *start* to *stop* (from the end if negative) as an array."""
    first, count = values.bounds(start, stop)
    out.array(count)
    walk: QuickListIterator = values.iterate(first)
    while count > 0 and walk.next_run():
        if walk.plain is not None:
            out.bulk(walk.plain)
            count -= 1
        elif walk.pack is not None:
            count -= packed_reply.write_elements(out, walk.pack, walk.at, count)
