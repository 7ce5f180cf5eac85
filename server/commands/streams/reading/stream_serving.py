"""What one stream gives to XREAD, the head of a reply of several streams, and the wait for one."""

from __future__ import annotations

from protocol.encoder import Encoder
from protocol.replies import NULL_ARRAY, ErrorReply, Reply
from server.commands.streams import stream_reply
from server.commands.streams.reading.stream_request import Request
from server.table.command import Block, new_block
from storage.stream import stream_id
from storage.stream.stream import Stream
from storage.stream.stream_id import ZERO, StreamId

NEW_WITHOUT_GROUP = ErrorReply(
    "ERR",
    "The > ID can be specified only when calling XREADGROUP using the GROUP <group> <consumer> "
    "option.",
)
NO_END = 2**62  # bytes that no reply has
FEW = 2  # entries that are most often new to who waits
LAST = b"+"  # XREAD: the last entry of the stream


def with_head(body: Encoder, served: int) -> Encoder:
    """The reply of several streams, *served* of which have entries: a map, for RESP2 pairs."""
    out = body.another()
    if out.resp == 2:
        out.array(served)
    else:
        out.map(served)
    out.append(body)
    return out


def write_after(
    body: Encoder, key: bytes, stream: Stream, after: StreamId, request: Request
) -> bool:
    """Write the entries that follow *after*. False, and nothing written, if there are none."""
    mark = len(body)
    if body.resp == 2:
        body.array(2)
    body.bulk(key)
    if request.where is not None or request.max_count or request.max_size:
        given = _write_within(body, stream, after, request)
    else:
        entries = stream.newer(after, FEW)
        given = stream_reply.write_entries(body, entries, request.count, request.nofields)
    if given:
        return True
    body.truncate(mark)
    return False


def _write_within(body: Encoder, stream: Stream, after: StreamId, request: Request) -> int:
    """Write as many entries as MAXCOUNT and MAXSIZE leave room for; return how many.

    With WHERE, only what it names, as far as the call may look.
    """
    end = request.max_size or NO_END
    entries = stream.newer(after, FEW)
    is_first = request.given == 0
    given, has_room = stream_reply.write_within(
        body, entries, request.where, request.count_now(), end, is_first, request.nofields
    )
    request.note(given, has_room)
    written: int = given
    return written


def last_seen(stream: Stream | None, text: bytes) -> StreamId:
    """The id after which XREAD begins: *text*, or what ``$`` and ``+`` stand for."""
    if text == b"$":
        return ZERO if stream is None else stream.last_id
    if text == LAST:  # so that the last entry is read; as with $ where there are no entries
        if stream is None:
            return ZERO
        return stream.last_entry_id().prev() if stream.length else stream.last_id
    if text == b">":
        raise NEW_WITHOUT_GROUP
    return stream_id.parse_id(text)


def wait_for(
    argv: list[bytes],
    request: Request,
    ids: list[bytes],
    wake_ms: int,
    speaks_for: bytes | None,
    active: bytes | None = None,
) -> Reply | Block:
    """Wait for the streams if BLOCK is given, with *ids* in the place of those in *argv*: no ``$``.

    Without BLOCK a call waits if it has not looked at all entries yet, until it has. For *wake_ms*
    and *speaks_for* see new_block(); *active* is the consumer for which it does not speak, if any.
    """
    goes_on = request.goes_on()
    if request.block_ms is None and not goes_on:
        return NULL_ARRAY
    if request.where is not None:
        request.where.rest()
    keys = [] if request.block_ms is None else request.keys
    words = argv[: request.ids_at] + ids
    on_no_key, for_more = request.group is not None, False
    return new_block(
        keys, Stream, request.block_ms or 0, NULL_ARRAY, NULL_ARRAY,
        words, on_no_key, for_more, wake_ms, goes_on, speaks_for, None, request,
        request.consumer, active,
    )  # fmt: skip
