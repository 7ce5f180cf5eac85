"""XGROUP, XACK and XPENDING."""

from __future__ import annotations

from collections.abc import Sequence

from protocol.replies import NULL_ARRAY, OK, ErrorReply, Reply
from server.commands.streams import stream_args
from server.commands.streams.groups import group_steps
from server.dispatch.call import Call
from server.table import errors
from server.table.args import to_int
from server.table.command import Flags, command, container, container_help
from server.table.documentation import OwnWords, Tip
from server.table.keys import ACCESS, DELETE, INSERT, RO, RW, UPDATE, KeyRange
from storage import octets
from storage.stream import pending as pendings
from storage.stream import stream_id
from storage.stream.consumer_group import Consumer, ConsumerGroup
from storage.stream.stream import Stream
from storage.stream.stream_id import MAX, U64_MAX, ZERO, StreamId

WRITE = Flags.WRITE

KEY_NEEDED = ErrorReply(
    "ERR",
    "The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the "
    "MKSTREAM option to create an empty stream automatically.",
)

NO_TIME = -1  # of an entry that was released since its last delivery

container(
    "XGROUP",
    group="stream",
    since="5.0.0",
    summary="Creates, changes and deletes consumer groups and their consumers.",
)


# ---------------------------------------------------------------------- XGROUP


@command(
    "XGROUP CREATE",
    arity=-5,
    flags=WRITE | Flags.DENYOOM,
    group="stream",
    since="5.0.0",
    keys=KeyRange(RW | INSERT, first=2),
    history=[("7.0.0", "ENTRIESREAD.")],
)
def xgroup_create(call: Call) -> Reply:
    """Adds a consumer group that reads the entries after an ID.

    XGROUP CREATE key group <id | $> [MKSTREAM] [ENTRIESREAD entries-read]
    """
    argv = call.argv
    key, text = argv[2], argv[4]
    options = stream_args.group_options(argv, True)
    found = call.db.find(key, Stream)
    if found is None and not options.make_stream:
        raise KEY_NEEDED
    stream: Stream = Stream() if found is None else found
    last_id = stream.last_id if text == b"$" else stream_id.parse_id(text)
    stream.create_group(argv[3], last_id, min(options.entries_read, stream.entries_added))
    if found is None:
        call.db.add(key, stream)
        call.db.changed(key, b"xgroup-create")
    else:
        call.db.group_changed(key, b"xgroup-create")
        call.server.blocking.readable(call.db.index, key)
    return OK


@command(
    "XGROUP SETID",
    arity=-5,
    flags=WRITE,
    group="stream",
    since="5.0.0",
    keys=KeyRange(RW | UPDATE, first=2),
    history=[("7.0.0", "ENTRIESREAD.")],
    own=[OwnWords("CLEAR", "nothing is pending any more")],
)
def xgroup_setid(call: Call) -> Reply:
    """Changes the ID after which a group continues to read.

    XGROUP SETID key group <id | $> [ENTRIESREAD entries-read] [CLEAR]
    """
    argv, text = call.argv, call.argv[4]
    options = stream_args.group_options(argv, False)
    stream, group = _stream_and_group(call)
    group.set_to(stream.last_id if text == b"$" else stream_args.loose_id(text))
    group.entries_read = min(options.entries_read, stream.entries_added)
    log: Sequence[bytes] | None = None
    if options.clears:
        found = group.pending_range(ZERO, MAX, len(group.pel))
        group_steps.ack_all(call, argv[2], argv[3], group, found)
        group_steps.left(call, argv[2])  # the group may give all of it anew
        log = [*argv[:5], *[word for word in argv[5:] if word.upper() != b"CLEAR"]]
    call.db.group_changed(argv[2], b"xgroup-setid", changes=1, log=log)
    call.server.blocking.readable(call.db.index, argv[2])
    return OK


def _stream_and_group(call: Call) -> tuple[Stream, ConsumerGroup]:
    """The stream and the group of ``XGROUP ... key group``. Raises WrongType, ErrorReply."""
    key, name = call.argv[2], call.argv[3]
    stream = call.db.find(key, Stream)
    if stream is None:
        raise KEY_NEEDED
    group = stream.find_group(name)
    if group is None:
        raise errors.no_such_group(name, key)
    return stream, group


@command(
    "XGROUP DESTROY",
    arity=4,
    flags=WRITE,
    group="stream",
    since="5.0.0",
    complexity="O(N) where N is the number of entries in the group's pending entries list (PEL).",
    keys=KeyRange(RW | DELETE, first=2),
)
def xgroup_destroy(call: Call) -> Reply:
    """Deletes a group with all its consumers and pending entries.

    XGROUP DESTROY key group
    """
    _, _, key, name = call.argv
    stream = call.db.find(key, Stream)
    if stream is None:
        raise KEY_NEEDED
    if not stream.delete_group(name):
        return 0
    if key in call.db.side:
        side = call.db.side[key]
        side.group_gone(name)
        call.db.put_side(key, side, of_groups=False)  # if nothing is left, the key has none
    # Clients blocked on the group are woken, to get an error.
    call.db.group_changed(key, b"xgroup-destroy", changes=1, log=None, wakes=True)
    return 1


@command(
    "XGROUP CREATECONSUMER",
    arity=5,
    flags=WRITE | Flags.DENYOOM,
    group="stream",
    since="6.2.0",
    keys=KeyRange(RW | INSERT, first=2),
)
def xgroup_createconsumer(call: Call) -> Reply:
    """Adds a consumer to a group; returns 0 if it was there.

    XGROUP CREATECONSUMER key group consumer
    """
    _, group = _stream_and_group(call)
    name = call.argv[4]
    if group.find_consumer(name) is not None:
        return 0
    group.create_consumer(name, call.now_ms)
    call.db.group_changed(call.argv[2], b"xgroup-createconsumer")
    return 1


@command(
    "XGROUP DELCONSUMER",
    arity=-5,
    flags=WRITE,
    group="stream",
    since="5.0.0",
    keys=KeyRange(RW | DELETE, first=2),
    own=[OwnWords("HANDOVER", "what the consumer had goes to the group, and is not lost")],
)
def xgroup_delconsumer(call: Call) -> Reply:
    """Deletes a consumer; returns how many pending entries are lost with it.

    XGROUP DELCONSUMER key group consumer [HANDOVER]

    With HANDOVER none is lost: the group has them, as if the consumer had released them with XNACK
    SILENT, and the answer is how many there are.
    """
    argv = call.argv
    hands_over = len(argv) == 6 and octets.same_letters(argv[5], b"HANDOVER")
    if len(argv) > 5 and not hands_over:
        raise errors.wrong_arity("xgroup|delconsumer")
    _, group = _stream_and_group(call)
    log, released = None, 0
    if hands_over:
        released = _hand_over(call, group, argv[4])
        log = argv[:5]
    dropped = group.delete_consumer(argv[4])
    if dropped is None:
        return 0
    call.db.group_changed(argv[2], b"xgroup-delconsumer", changes=1, log=log)
    group_steps.left(call, argv[2])
    return released + dropped


def _hand_over(call: Call, group: ConsumerGroup, name: bytes) -> int:
    """Release what the consumer *name* has; return how many entries these are."""
    consumer = group.find_consumer(name)
    if consumer is None:
        return 0
    key = call.argv[2]
    found = group.pending_range(ZERO, MAX, len(consumer.pel), consumer)
    for pending in found:
        group.release(pending)
        group.uncount(pending)
    if call.is_logged:
        group_steps.log_released(call, key, call.argv[3], found)
    if found:
        call.server.blocking.delivered(call.db.index, key)
    return len(found)


container_help("XGROUP", group="stream", since="5.0.0")


# ---------------------------------------------------------------------- XACK


@command(
    "XACK",
    arity=-4,
    flags=WRITE | Flags.FAST,
    group="stream",
    since="5.0.0",
    complexity="O(1) for each message ID processed.",
    keys=KeyRange(RW | UPDATE),
    own=[OwnWords("UPTO CONSUMER", "all up to that ID, of the group or of one consumer")],
)
def xack(call: Call) -> Reply:
    """Acknowledges entries, which are then no longer pending; returns how many were.

    XACK key group <id [id ...] | UPTO id [CONSUMER consumer]>

    With UPTO all that are pending up to that id: of the group, or of one consumer.
    """
    argv = call.argv
    group = _group_at(call, argv[1], argv[2])
    if group is None:
        return 0
    if octets.same_letters(argv[3], b"UPTO"):
        return _ack_upto(call, group)
    acked = 0
    for entry_id in stream_args.entry_ids(argv, 3):
        acked += group.ack(entry_id)
    if acked:
        call.db.group_changed(argv[1], None, changes=acked)
        if call.db.side:
            group_steps.left(call, argv[1], argv[2])
    return acked


def _group_at(call: Call, key: bytes, name: bytes) -> ConsumerGroup | None:
    """The group of the stream at *key*; None if there is none. Raises WrongType."""
    stream = call.db.read(key, Stream)
    return None if stream is None else stream.find_group(name)


def _ack_upto(call: Call, group: ConsumerGroup) -> int:
    argv = call.argv
    if len(argv) != 5 and not (len(argv) == 7 and octets.same_letters(argv[5], b"CONSUMER")):
        raise errors.SYNTAX
    upto = stream_args.loose_id(argv[4], U64_MAX)
    consumer = None
    if len(argv) == 7:
        consumer = group.find_consumer(argv[6])
        if consumer is None:
            return 0
    found = group.pending_range(ZERO, upto, len(group.pel), consumer)
    group_steps.ack_all(call, argv[1], argv[2], group, found)
    return len(found)


# ---------------------------------------------------------------------- XPENDING


@command(
    "XPENDING",
    arity=-3,
    flags=Flags.READONLY,
    group="stream",
    since="5.0.0",
    complexity="O(N) with N being the number of elements returned; O(M) with IDLE, where M is the "
    "number of entries scanned.",
    keys=KeyRange(RO | ACCESS),
    types={"start": "string", "end": "string"},
    tips=[Tip.NONDETERMINISTIC_OUTPUT],
    history=[("6.2.0", "IDLE, and exclusive ranges.")],
)
def xpending(call: Call) -> Reply:
    """Sums up a group's pending entries or, given a range, lists them.

    XPENDING key group [[IDLE min-idle-time] start end count [consumer]]
    """
    argv = call.argv
    if len(argv) == 3:
        return _summary(_group_of(call))
    if not 6 <= len(argv) <= 9:
        raise errors.SYNTAX
    at, min_idle = 3, 0
    if argv[3].upper() == b"IDLE":
        min_idle = to_int(argv[4])
        if len(argv) < 8:
            raise errors.SYNTAX
        at = 5
    count = to_int(argv[at + 2])
    start, end = stream_args.range_start(argv[at]), stream_args.range_end(argv[at + 1])
    group = _group_of(call)
    consumer = None
    if at + 3 < len(argv):
        consumer = group.find_consumer(argv[at + 3])
        if consumer is None:
            return []
    return _pending_range(call, group, start, end, count, consumer, min_idle)


def _group_of(call: Call) -> ConsumerGroup:
    _, group = group_steps.stream_and_group(call, call.argv[1], call.argv[2])
    return group


def _summary(group: ConsumerGroup) -> Reply:
    """How many are pending, the smallest and greatest id, and how many each consumer has."""
    first, last = group.first_pending(), group.last_pending()
    if first is None or last is None:
        return [0, None, None, NULL_ARRAY]
    owners: list[Reply] = [
        [consumer.name, b"%d" % len(consumer.pel)]
        for consumer in group.sorted_consumers()
        if len(consumer.pel)
    ]
    ends = pendings.id_of(first).encode(), pendings.id_of(last).encode()
    return [len(group.pel), *ends, owners]


def _pending_range(
    call: Call,
    group: ConsumerGroup,
    start: StreamId,
    end: StreamId,
    count: int,
    consumer: Consumer | None,
    min_idle: int,
) -> Reply:
    found = group.pending_range(start, end, count, consumer, min_idle, call.now_ms)
    rows: list[Reply] = []
    for pending in found:
        owner = group.owner(pending)
        name, idle = b"", NO_TIME
        if owner is not None:
            name, idle = owner.name, max(0, octets.since(pending.delivery_time, call.now_ms))
        text = pendings.id_of(pending).encode()
        rows.append([text, name, idle, pendings.count_of(pending)])
    return rows
