"""Which entries a stream gives up by its policy, found some at a time: see stream_policy.py.

The oldest nodes go whole, then single entries of the first that stays:

    nodes   [1 2 3] [4 5 6] [7 8 9] [10 ..        all before 8 may go
            `------ drop_nodes ----' ^trim_by_id

What all groups have acknowledged may lie between entries that some group needs:

    bound   the first entry that a group has pending or was not given: all before it may go
    swept   between bound and here each entry was looked at once (references.py); those that have
            been acknowledged since are known by their ids

For many groups that needs an index of what is pending, which is made a part at a time, too.

Nothing here knows the time: the caller says up to which id, and how much at once.
"""

from __future__ import annotations

from storage.listpack.listpack import Listpack
from storage.rax.rax import Rax
from storage.stream import deletions, stream_id, stream_node
from storage.stream.references import FEW, References
from storage.stream.stream import Stream
from storage.stream.stream_id import MAX, ZERO, StreamId

_FEW = FEW  # as a C number


def drop_nodes(stream: Stream, most: int, minid: StreamId, length: int, size: int) -> int:
    """Drop up to *most* of the oldest nodes; return how many entries were in them.

    A node goes if all its entries are less than *minid*, or if *length* entries are left without
    it, or if the nodes have more than *size* bytes (-1: any number may stay, of either). By the
    bytes the last node never goes. O(nodes dropped).
    """
    before = stream.length
    dropped = 0
    place = stream.rax.seek("^", b"")
    while dropped < most and place.next():
        node: Listpack = place.value
        key = place.current_key()
        count = stream_node.alive(node)
        is_due = (
            (length >= 0 and stream.length - count >= length)
            or (size >= 0 and stream.node_bytes() > size and len(stream.rax) > 1)
            or stream_id.compare(stream_node.last_id(node, key), minid) < 0
        )
        if not is_due:
            break
        stream.remove_node(key, node)
        stream.length -= count
        dropped += 1
    if dropped:
        stream.first_id = stream.first_entry_id()
    return before - stream.length


def known_references(stream: Stream) -> References | None:
    """The references of all groups, made if needed, but without an index. None without groups."""
    found: References | None = None
    for group in stream.groups.values():
        found = group.references
        break
    if found is None and stream.groups:
        found = References()
        for group in stream.groups.values():
            group.references = found
    return found


def count_some(stream: Stream, references: References, most: int) -> bool:
    """Count about *most* more pending entries for the index. True if it is made, or not needed.

    All are counted up to the least key that a group has reached with its share of them. O(groups
    log N + most).
    """
    if references.ids is not None or len(stream.groups) <= _FEW:
        references.counting = None
        return True
    if references.counting is None:
        references.counting, references.counted_to = Rax(), b""
    counting, after = references.counting, references.counted_to
    end: bytes | None = None
    for group in stream.groups.values():
        place = group.pel.seek(">", after)
        left = most // len(stream.groups) + 1
        while left > 0 and place.next():
            left -= 1
        if left == 0:
            key = place.current_key()
            if end is None or key < end:
                end = key
    for group in stream.groups.values():
        place = group.pel.seek(">", after)
        while place.next():
            key = place.current_key()
            if end is not None and key > end:
                break
            number: int = counting.find(key, 0)
            counting.insert(key, number + 1)
    if end is not None:
        references.counted_to = end
        return False
    references.ids, references.counting = counting, None
    return True


def first_needed(stream: Stream, references: References) -> StreamId:
    """The least id that a group has pending, or that it may still be given.

    O(log N) for few groups for each of them; and O(groups) if the one that was the furthest behind
    has moved since.
    """
    least = deletions.least(stream, references)
    found = least if least == MAX else least.next()
    if references.ids is not None:
        first = references.ids.first()
        if first is not None:
            found = _lesser(found, stream_id.from_key(first[0]))
        return found
    for group in stream.groups.values():
        first = group.pel.first()
        if first is not None:
            found = _lesser(found, stream_id.from_key(first[0]))
    return found


def _lesser(one: StreamId, other: StreamId) -> StreamId:
    return one if stream_id.compare(one, other) < 0 else other


class FreeEntries:
    """What *ids* no group needs, of the entries from *bound* on, after a look at *most* of them.

    *is_done*: there are no others. The next look goes on after those that this one has passed.
    """

    __slots__ = ("_left", "ids", "is_done")

    def __init__(self, stream: Stream, references: References, bound: StreamId, most: int) -> None:
        self.ids: list[StreamId] = []
        self._left = most
        if references.acked is None:
            references.acked = []
            references.swept = ZERO
        self.is_done = self._of_acked(stream, references, bound) and self._of_unseen(
            stream, references, bound
        )

    def _of_acked(self, stream: Stream, references: References, bound: StreamId) -> bool:
        """Look at what was acknowledged. Whether that is all."""
        acked = references.acked
        assert acked is not None
        while acked and self._left:
            self._left -= 1
            entry_id = stream_id.from_key(acked.pop())
            is_early = stream_id.compare(entry_id, bound) < 0
            if not is_early and not deletions.is_referenced(stream, references, entry_id):
                self.ids.append(entry_id)
        self.ids.reverse()  # to be deleted in ascending order, if they were acknowledged so
        return not acked

    def _of_unseen(self, stream: Stream, references: References, bound: StreamId) -> bool:
        """Look at what was not looked at yet, and was given to all groups. Whether that is all."""
        least = _lesser(deletions.least(stream, references), stream.last_id)
        swept = references.swept
        if stream_id.compare(least, swept) <= 0:
            references.swept = least  # a group may have been set back
            return True
        start = bound if stream_id.compare(swept, bound) < 0 else swept.next()
        if stream_id.compare(start, least) <= 0:
            entry = stream.range(start, least)
            while entry.next():
                if self._left == 0:
                    return False
                self._left -= 1
                entry_id = entry.current_id()
                if not deletions.is_referenced(stream, references, entry_id):
                    self.ids.append(entry_id)
                references.swept = entry_id
        references.swept = least
        return True
