"""The steps of XADD: append, trim, and log what replicas have to do."""

from __future__ import annotations

from server.commands.streams.adding.add_options import AddOptions
from server.commands.streams.groups.group_steps import MOST_IDS
from server.dispatch.call import Call
from server.table import errors
from storage.errors import IdIsZero, IdsExhausted
from storage.stream import stream_id
from storage.stream.deletions import Done
from storage.stream.stream import Stream
from storage.stream.stream_id import ZERO, StreamId

LEAST = StreamId(0, 1)  # of the ids that an entry can have


def add_entry(
    call: Call,
    id_at: int,
    options: AddOptions | None = None,
    found: Stream | None = None,
) -> bytes | None:
    """Append ``argv[id_at + 1:]`` to the stream at the key; trim if asked to; answer the id.

    Without *options* the id is ``*``. *found* is the stream, if the caller has looked for it
    already. The answer is None if there is no stream and none may be made. Refusals come in redis's
    order: arity, id 0-0, type, no ids left, id too small, size.
    """
    argv, db = call.argv, call.db
    wanted = trim = None
    if options is not None:
        wanted, trim = options.wanted, options.trim
    fields = len(argv) - id_at - 1
    if fields < 2 or fields % 2 == 1:
        raise errors.wrong_arity("xadd")
    seq_given = wanted is not None and not argv[id_at].endswith(b"*")
    if seq_given and wanted == ZERO:
        raise IdIsZero
    key = argv[1]
    stream = db.find(key, Stream) if found is None else found
    is_new = stream is None
    if stream is None:
        if options is not None and not options.may_create:
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
    if trim is not None and trim.drops_references() and call.is_logged:
        trim.done = Done()
    trimmed = trim is not None and trim.apply(stream, config) > 0
    if trimmed:
        note_sparse(call, stream)
    text = entry_id.encode()
    done = None if trim is None else trim.done
    # By ACKED the new entry may go at once: all groups were set beyond it.
    is_gone = done is not None and done.forget_deleted(text)
    log = _log_of(call, options, id_at, stream, text, seq_given) if call.is_logged else None
    db.changed(key, b"xadd", changes=1, log=log, wakes=not is_new)
    if done is not None:
        if is_gone:
            db.group_changed(key, None, changes=0, log=(b"XDEL", key, text))
            done.note_deleted(entry_id)
        log_greatest(call, done, stream)
    if trimmed:
        db.changed(key, b"xtrim", changes=0)
    return text


def ends_with(call: Call, id_at: int, last: StreamId) -> bool:
    """Whether *last* is the last id of the stream at the key; 0-0: whether it has no entries.

    Raises ErrorReply if ``argv[id_at + 1:]`` are no fields, and WrongType.
    """
    fields = len(call.argv) - id_at - 1
    if fields < 2 or fields % 2 == 1:
        raise errors.wrong_arity("xadd")
    stream = call.db.find(call.argv[1], Stream)
    if last == ZERO:
        return stream is None or stream.length == 0
    return stream is not None and stream.last_id == last


def _log_of(
    call: Call,
    options: AddOptions | None,
    id_at: int,
    stream: Stream,
    text: bytes,
    seq_given: bool,
) -> list[bytes] | None:
    """What a replica must do: use this very id, and trim by no estimate."""
    argv = call.argv
    trim = None if options is None else options.trim
    if options is not None and trim is not None and not trim.is_as_it_was_given():
        if trim.done is not None:
            log_done(call, trim.done)
        once = [] if options.once is None else options.once.words
        words = trim.as_exact(stream) if trim.strategy else []
        return [argv[0], argv[1], *once, *words, text, *argv[id_at + 1 :]]
    if seq_given:
        return None
    log = argv[:]
    log[id_at] = text
    return log


def note_sparse(call: Call, stream: Stream) -> None:
    """Entries of the stream at the key were deleted: nodes of it may be rewritten later."""
    if stream.is_noted():
        call.server.stream_compaction.note(call.db.index, call.argv[1])


def log_done(call: Call, done: Done) -> None:
    """Log which entries are no longer pending in groups, and which are deleted."""
    key = call.argv[1]
    if done.deleted and call.db.side:
        gone = [stream_id.parse_id(text) for text in done.deleted]
        call.server.agenda.entries_gone(call.db, key, gone)
    for name, ids in done.acked.items():
        call.db.group_changed(key, None, changes=0, log=(b"XACK", key, name, *ids))
    for at in range(0, len(done.deleted), MOST_IDS):
        ids = done.deleted[at : at + MOST_IDS]
        call.db.group_changed(key, None, changes=0, log=(b"XDEL", key, *ids))


def log_greatest(call: Call, done: Done, stream: Stream) -> None:
    """After log_done() of a trim: XDEL has moved a copy's max-deleted-entry-id, a trim does not.

    No words set it to 0-0; 0-1 is as good, being less than any entry that matters.
    """
    greatest = stream.max_deleted_id
    if done.deleted and stream_id.compare(done.greatest, greatest) > 0:
        text = (greatest if greatest > ZERO else LEAST).encode()
        words = (b"XSETID", call.argv[1], stream.last_id.encode(), b"MAXDELETEDID", text)
        call.db.group_changed(call.argv[1], None, changes=0, log=words)
