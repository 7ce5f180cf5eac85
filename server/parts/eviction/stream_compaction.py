"""Streams give back the memory of deleted entries: their sparse nodes are rewritten.

A command that has deleted entries names the key if its stream has noted such nodes
(storage/stream/sparse.py). Cron rewrites some of them at each tick, so nobody waits for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from server.observe.part import Part
from storage.keyspace.keyspace import Keyspace
from storage.stream.stream import Stream

AT_ONCE: Final = 500  # nodes in a tick, of 4 KB each: some milliseconds


class StreamCompaction(Part):
    """Rewrites nodes of streams in *databases*."""

    __slots__ = ("_databases", "_noted")

    def __init__(self, databases: Sequence[Keyspace]) -> None:
        self._databases = databases
        self._noted: dict[tuple[int, bytes], None] = {}

    def note(self, db_index: int, key: bytes) -> None:
        """The stream at *key* has nodes that are to be rewritten."""
        self._noted[db_index, key] = None

    def tick(self, now_ms: int) -> None:
        left = AT_ONCE
        while self._noted and left > 0:
            db_index, key = next(iter(self._noted))
            stream = self._databases[db_index].peek(key)
            if isinstance(stream, Stream):
                left -= max(1, stream.compact(left))
                if stream.is_noted():
                    continue
            del self._noted[db_index, key]
