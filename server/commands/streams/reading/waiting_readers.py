"""Which consumers wait in an XREADGROUP at this moment: they are not silent."""

from __future__ import annotations

from server.commands.streams.reading.stream_request import Request
from server.parts.waiting.blocking import Blocking


def waiting_at(blocking: Blocking, db_index: int, key: bytes) -> set[tuple[bytes, bytes]]:
    """The groups and consumers as which clients wait for *key*. O(clients that wait for it)."""
    found = set()
    for block in blocking.blocks_at(db_index, key):
        request = block.resume
        if isinstance(request, Request) and request.group is not None:
            found.add((request.group, request.consumer))
    return found


def waits_as(blocking: Blocking, db_index: int, key: bytes, group: bytes, consumer: bytes) -> bool:
    """Whether a client waits for *key* as *consumer* of *group*. O(clients that wait for it)."""
    for block in blocking.blocks_at(db_index, key):
        if block.reads_as == consumer:
            request = block.resume
            if isinstance(request, Request) and request.group == group:
                return True
    return False
