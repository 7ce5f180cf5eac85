"""Which consumers wait in an XREADGROUP at this moment: they are not silent."""

from __future__ import annotations

from protocol.replies import ErrorReply
from server.commands.streams import stream_request
from server.parts.waiting.blocking import Blocking

READS = b"XREADGROUP"


def waiting_at(
    blocking: Blocking, db_index: int, key: bytes, now_ms: int
) -> set[tuple[bytes, bytes]]:
    """The groups and consumers as which clients wait for *key*. O(clients that wait for it)."""
    found = set()
    for argv in blocking.commands_at(db_index, key):
        if argv[0].upper() != READS:
            continue
        try:
            request = stream_request.take_request(argv, True, now_ms)
        except ErrorReply:
            continue
        if request.group is not None:
            found.add((request.group, request.consumer))
    return found
