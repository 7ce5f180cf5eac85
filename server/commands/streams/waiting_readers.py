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
    readers = (_reader_of(argv, now_ms) for argv in blocking.commands_at(db_index, key))
    return {reader for reader in readers if reader is not None}


def waits_as(
    blocking: Blocking, db_index: int, key: bytes, now_ms: int, group: bytes, consumer: bytes
) -> bool:
    """Whether a client waits for *key* as *consumer* of *group*. O(clients that wait for it)."""
    for argv in blocking.commands_at(db_index, key):
        # To take a command apart takes much longer than to see that it does not name them.
        if consumer in argv and group in argv and _reader_of(argv, now_ms) == (group, consumer):
            return True
    return False


def _reader_of(argv: list[bytes], now_ms: int) -> tuple[bytes, bytes] | None:
    """The group and the consumer that *argv* reads as, if it is an XREADGROUP."""
    if argv[0].upper() != READS:
        return None
    try:
        request = stream_request.take_request(argv, True, now_ms)
    except ErrorReply:
        return None
    return None if request.group is None else (request.group, request.consumer)
