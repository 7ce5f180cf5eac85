"""The steps of XADD: append, trim, and log what replicas have to do."""

from __future__ import annotations

from server.commands.streams.stream_args import Trim
from server.dispatch.call import Call
from server.table import errors
from storage.errors import IdIsZero, IdsExhausted
from storage.stream import deletions
from storage.stream.deletions import Done
from storage.stream.stream import Stream
from storage.stream.stream_id import ZERO, StreamId


def add_entry(
    call: Call,
    id_at: int,
    wanted: StreamId | None = None,
    trim: Trim | None = None,
    may_create: bool = True,
    options: list[bytes] | None = None,
) -> bytes | None:
    """Append ``argv[id_at + 1:]`` to the stream at the key; trim if asked to; answer the id.

    *options* are other words of the command that are to be logged with it.

    *wanted* is the id in ``argv[id_at]``, with seq 0 for ``ms-*``; None for ``*``. The answer is
    None if there is no stream and none may be made. Refusals come in redis's order: arity, id 0-0,
    type, no ids left, id too small, size.
    """
    argv, db = call.argv, call.db
    fields = len(argv) - id_at - 1
    if fields < 2 or fields % 2 == 1:
        raise errors.wrong_arity("xadd")
    seq_given = wanted is not None and not argv[id_at].endswith(b"*")
    if seq_given and wanted == ZERO:
        raise IdIsZero
    key = argv[1]
    stream = db.find(key, Stream)
    is_new = stream is None
    if stream is None:
        if not may_create:
            return None
        stream = Stream()
    if stream.is_full():
        raise IdsExhausted
    if wanted is None:
        entry_id = stream.next_auto_id(call.now_ms)
    else:
        entry_id = wanted if seq_given else stream.next_seq_id(wanted.ms)
    config = call.server.node_limits.stream
    stream.append(entry_id, argv, id_at + 1, config)
    if is_new:
        db.add(key, stream)
    if trim is not None and trim.policy > deletions.KEEPREF and call.is_logged:
        trim.done = Done()
    trimmed = trim is not None and trim.apply(stream, config) > 0
    if trimmed:
        note_sparse(call, stream)
    text = entry_id.encode()
    log = _log_of(call, trim, id_at, stream, text, seq_given, options) if call.is_logged else None
    db.changed(key, b"xadd", changes=1, log=log, wakes=not is_new)
    if trimmed:
        db.changed(key, b"xtrim", changes=0)
    return text


def _log_of(
    call: Call,
    trim: Trim | None,
    id_at: int,
    stream: Stream,
    text: bytes,
    seq_given: bool,
    options: list[bytes] | None,
) -> list[bytes] | None:
    """What a replica must do: use this very id, and trim by no estimate."""
    argv = call.argv
    if trim is not None and not trim.is_as_it_was_given():
        if trim.done is not None:
            log_acked(call, trim.done)
        words = trim.as_exact(stream) if trim.strategy else []
        before = [argv[0], argv[1], *(options or ()), *words]
        return [*before, text, *argv[id_at + 1 :]]
    if seq_given:
        return None
    log = argv[:]
    log[id_at] = text
    return log


def note_sparse(call: Call, stream: Stream) -> None:
    """Entries of the stream at the key were deleted: nodes of it may be rewritten later."""
    if stream.is_noted():
        call.server.stream_compaction.note(call.db.index, call.argv[1])


def log_acked(call: Call, done: Done) -> None:
    """Log that entries are no longer pending in groups, which were dropped with their entries."""
    key = call.argv[1]
    for name, ids in done.acked.items():
        call.db.group_changed(key, None, changes=0, log=(b"XACK", key, name, *ids))
