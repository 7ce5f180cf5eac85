"""Entries of a stream that are deleted together, when the walk that has found them is over.

A node of which nothing is left goes whole; in others, each entry is marked and the master entry is
updated once.
"""

from __future__ import annotations

from storage.listpack.listpack import Listpack
from storage.stream import stream_id, stream_node
from storage.stream.places import Places
from storage.stream.stream import Stream
from storage.stream.stream_id import StreamId


class Removal:
    """Notes living entries of *stream*, either from the oldest to the newest or the other way."""

    __slots__ = ("_ids", "_keys", "_last", "_node", "_nodes", "_places", "_stream")

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._ids: list[StreamId] = []
        self._node: Listpack | None = None  # the last one of:
        self._nodes: list[Listpack] = []
        self._keys: list[bytes] = []
        self._places: list[Places] = []  # where the entries begin, for each node
        self._last: Places | None = None  # the last one of these

    def add(self, key: bytes, node: Listpack, at: int, entry_id: StreamId) -> None:
        """Note the entry at *at* of the node at *key*."""
        places = self._last
        if node is not self._node or places is None:
            places = Places(stream_node.alive(node))
            self._node, self._last = node, places
            self._nodes.append(node)
            self._keys.append(key)
            self._places.append(places)
        places.add(at)
        self._ids.append(entry_id)

    def run(self) -> list[StreamId]:
        """Delete what was noted; return the ids. No node may have changed since. O(1) for each."""
        ids = self._ids
        if not ids:
            return ids
        stream = self._stream
        for index in range(len(self._nodes)):
            stream.delete_places(self._keys[index], self._nodes[index], self._places[index])
        least, greatest = ids[0], ids[-1]
        if stream_id.compare(least, greatest) > 0:
            least, greatest = greatest, least
        if stream_id.compare(greatest, stream.max_deleted_id) > 0:
            stream.max_deleted_id = greatest
        if stream_id.compare(least, stream.first_id) <= 0:
            stream.first_id = stream.first_entry_id()
        return ids
