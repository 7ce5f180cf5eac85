"""XREAD and XREADGROUP: entries of several streams at once; both can wait for new ones."""

from __future__ import annotations

from collections.abc import Sequence

from protocol.encoder import Encoder
from protocol.replies import NULL_ARRAY, ErrorReply, Reply
from server.client.client import RESTRICTED
from server.client.origin import WOKEN
from server.commands.streams import (
    active_consumer,
    dead_letters,
    group_lapses,
    group_reply,
    group_steps,
    stream_expiries,
    stream_reply,
    stream_request,
)
from server.commands.streams.dead_letters import DELIVERIES
from server.commands.streams.group_reply import NEW, Delivery
from server.commands.streams.stream_request import Request
from server.dispatch.call import Call
from server.parts.waiting.pattern_reads import Readers
from server.table import errors
from server.table.command import NO_CLAIM, TABLE, Block, Flags, command, new_block
from server.table.keys import ACCESS, READ, RO, WRITE, KeywordKeys
from storage.keyspace.key_changes import NOTHING
from storage.stream import stream_id
from storage.stream.stream import Stream
from storage.stream.stream_id import MAX, ZERO, StreamId

ALL = 2**31  # words: what follows is no option, and no key that is named
VALUES = {b"COUNT": 1, b"BLOCK": 1, b"MAXCOUNT": 1, b"MAXSIZE": 1, b"MATCH": ALL}  # of each option
COUNTED = {b"WHERE": 2}  # the second word says how many follow
READ_KEYS = KeywordKeys(
    RO | ACCESS, b"STREAMS", start_from=1, values=VALUES, share=2, counted=COUNTED
)
# As in redis, the flags say that XREADGROUP only reads: they are about the entries, not the group.
GROUP_VALUES = {b"GROUP": 2, b"CLAIM": 1, **VALUES}
GROUP_READ_KEYS = KeywordKeys(
    RO | ACCESS, b"STREAMS", start_from=4, values=GROUP_VALUES, share=2, counted=COUNTED
)

_MEANINGLESS = (
    "The {0} ID is meaningless in the context of XREADGROUP: you want to read the history of this "
    "consumer by specifying a proper ID, or use the > ID to get new messages. The {0} ID would "
    "just return an empty result set."
)
OF_NEW_ONLY = ErrorReply("ERR", "WITHDEADLINE and WITHFENCE go with the > ID only")
LAST_IN_GROUP = {
    b"$": ErrorReply("ERR", _MEANINGLESS.format("$")),
    b"+": ErrorReply("ERR", _MEANINGLESS.format("+")),
}
NEW_WITHOUT_GROUP = ErrorReply(
    "ERR",
    "The > ID can be specified only when calling XREADGROUP using the GROUP <group> <consumer> "
    "option.",
)
_NO_CLAIM = NO_CLAIM  # as a C number
MOST_EXPIRED = 1000  # entries that are removed before one is served; with more, nothing is
NO_END = 2**62  # bytes that no reply has
LAST = b"+"  # XREAD: the last entry of the stream


def _begin_reply(call: Call, request: Request) -> Encoder:
    """An encoder for the streams' entries. With a single stream its head is written at once."""
    body = call.client.out.another()
    if len(request.keys) == 1:
        if body.resp == 2:
            body.array(1)
        else:
            body.map(1)
    return body


def _with_head(body: Encoder, served: int) -> Encoder:
    """The reply of several streams, *served* of which have entries: a map, for RESP2 pairs."""
    out = body.another()
    if out.resp == 2:
        out.array(served)
    else:
        out.map(served)
    out.append(body)
    return out


# ---------------------------------------------------------------------- XREAD


@command(
    "XREAD",
    arity=-4,
    flags=Flags.READONLY | Flags.BLOCKING | Flags.MOVABLEKEYS,
    group="stream",
    since="5.0.0",
    complexity="O(M) for each stream, with M being the number of messages returned.",
    keys=READ_KEYS,
    history=[("8.10.0", "MAXCOUNT and MAXSIZE.")],
)
def xread(call: Call) -> Reply | Block:
    """Returns the entries of several streams after the given IDs; waits for them if told to.

    XREAD [COUNT count] [MAXCOUNT max-count] [MAXSIZE max-size] [PRIORITY] [NOFIELDS]
    [WHERE field numvalues value [value ...]] [BLOCK milliseconds]
    <STREAMS key [key ...] id [id ...] | MATCH pattern [pattern ...] id>
    """
    request = stream_request.take_request(call.argv, False, call.now_ms, call.is_inside)
    if request.patterns is not None:
        return _read_patterns(call, request)
    keys = request.keys
    seen = []
    body: Encoder | None = None  # until there is something to write
    served = 0
    for at, key in enumerate(keys, request.ids_at):
        stream = call.db.read(key, Stream)
        after = _last_seen(stream, call.argv[at])
        seen.append(after)
        if (
            stream is not None
            and not request.is_full
            and not (request.priority and served)
            and stream_id.compare(stream.last_id, after) > 0
        ):
            if body is None:
                body = _begin_reply(call, request)
            if _write_after(body, key, stream, after, request):
                served += 1
            elif request.where is not None and request.where.passed:
                seen[-1] = stream_id.make_id(request.where.last_ms, request.where.last_seq)
    if body is not None and served:
        return body if len(keys) == 1 else _with_head(body, served)
    asked = call.argv[request.ids_at :]
    ids = [
        text if text == LAST else after.encode() for text, after in zip(asked, seen, strict=True)
    ]
    return _wait(call, request, ids)


def _write_after(
    body: Encoder, key: bytes, stream: Stream, after: StreamId, request: Request
) -> bool:
    """Write the entries that follow *after*. False, and nothing written, if there are none."""
    mark = len(body)
    if body.resp == 2:
        body.array(2)
    body.bulk(key)
    if request.where is not None:
        given = _write_matching(body, stream, after, request)
    elif request.max_count or request.max_size:
        given = _write_within(body, stream, after, request)
    else:
        given = stream_reply.write_range(
            body, stream, after.next(), MAX, request.count, False, request.nofields
        )
    if given:
        return True
    body.truncate(mark)
    return False


def _write_within(body: Encoder, stream: Stream, after: StreamId, request: Request) -> int:
    """Write as many entries as MAXCOUNT and MAXSIZE leave room for; return how many."""
    end = request.max_size or NO_END
    entries = stream.range(after.next())
    is_first = request.given == 0
    given, has_room = stream_reply.write_within(
        body, entries, request.count_now(), end, is_first, request.nofields
    )
    request.note(given, has_room)
    written: int = given
    return written


def _write_matching(body: Encoder, stream: Stream, after: StreamId, request: Request) -> int:
    """As _write_within, but only what WHERE names, as far as the call may look."""
    where = request.where
    assert where is not None
    end = request.max_size or NO_END
    entries = stream.range(after.next())
    is_first = request.given == 0
    given, has_room = stream_reply.write_matching(
        body, entries, where, request.count_now(), end, is_first, request.nofields
    )
    request.note(given, has_room)
    written: int = given
    return written


def _last_seen(stream: Stream | None, text: bytes) -> StreamId:
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


def _wait(call: Call, request: Request, ids: list[bytes], wake_ms: int = NO_CLAIM) -> Reply | Block:
    """Wait for the streams if BLOCK is given. ``$`` becomes the last id of this moment.

    Without BLOCK a call waits if it has not looked at all entries yet, until it has.
    """
    reads_on = request.where is not None and request.where.is_cut
    if request.block_ms is None and not reads_on:
        return NULL_ARRAY
    return new_block(
        request.keys if request.block_ms is not None else [],
        Stream,
        request.block_ms or 0,
        NULL_ARRAY,
        NULL_ARRAY,
        argv=call.argv[: request.ids_at] + ids,
        on_no_key=request.group is not None,
        wake_ms=wake_ms,
        reads_on=reads_on,
    )


# ---------------------------------------------------------------------- XREADGROUP


@command(
    "XREADGROUP",
    arity=-7,
    flags=Flags.WRITE | Flags.BLOCKING | Flags.MOVABLEKEYS,
    group="stream",
    since="5.0.0",
    complexity="O(M) for each stream, with M being the number of messages returned.",
    keys=GROUP_READ_KEYS,
    history=[("8.4.0", "CLAIM."), ("8.10.0", "MAXCOUNT and MAXSIZE.")],
)
def xreadgroup(call: Call) -> Reply | Block:
    """Delivers entries to a consumer: new ones or, again, pending ones. Waits if told to.

    XREADGROUP GROUP group consumer [COUNT count] [MAXCOUNT max-count] [MAXSIZE max-size]
    [PRIORITY] [NOFIELDS] [WHERE field numvalues value [value ...]] [BLOCK milliseconds]
    [CLAIM min-idle-time] [NOACK] [WITHDEADLINE] [WITHFENCE] [MKGROUP]
    <STREAMS key [key ...] id [id ...] | MATCH pattern [pattern ...] id>

    With WITHDEADLINE each entry ends with the time (unix, ms) until which the consumer has it by
    the VISIBILITY of the group; null if it has none. With WITHFENCE it ends with the number of the
    turn of the active consumer; null if the group never had ACTIVE.
    """
    request = stream_request.take_request(call.argv, True, call.now_ms, call.is_inside)
    if request.patterns is not None:
        return _read_groups(call, request)
    deliveries = [
        _delivery(call, request, key, call.argv[at])
        for at, key in enumerate(request.keys, request.ids_at)
    ]
    body = _begin_reply(call, request)
    served = 0
    for delivery in deliveries:
        if request.is_full or (request.priority and served):
            break
        served += _serve(call, request, body, delivery)
    if served:
        return body if len(request.keys) == 1 else _with_head(body, served)
    ids = call.argv[request.ids_at :]
    return _wait(call, request, ids, _ms_to_claim(call, deliveries))


def _ms_to_claim(call: Call, deliveries: list[Delivery]) -> int:
    """After how many ms the first entry may be claimed, for ``wake_ms`` of a Block.

    A group with a policy may give something as soon as entries leave it: 0, if nothing earlier.
    """
    earliest = _NO_CLAIM
    for delivery in deliveries:
        is_paused = delivery.policy is not None and delivery.policy.paused
        if delivery.turn_ms:
            is_paused = True
            if delivery.turn_ms > 0 and (earliest <= 0 or delivery.turn_ms < earliest):
                earliest = delivery.turn_ms
        if delivery.is_more and not is_paused:
            earliest = 1
        elif delivery.min_idle != _NO_CLAIM and not is_paused:
            wake_ms = delivery.ms_to_idle(delivery.min_idle, call.now_ms)
            held_ms = delivery.ms_to_held(call.now_ms)
            if held_ms and (wake_ms == 0 or held_ms < wake_ms):
                wake_ms = held_ms
            if wake_ms and (earliest <= 0 or wake_ms < earliest):
                earliest = wake_ms
        if earliest == _NO_CLAIM and (
            delivery.min_idle != _NO_CLAIM or delivery.policy is not None
        ):
            earliest = 0
    return earliest


def _delivery(call: Call, request: Request, key: bytes, text: bytes) -> Delivery:
    """What is wanted from the stream at *key* after the ID *text*.

    Raises ErrorReply, BadStreamId.
    """
    stream = call.db.read(key, Stream)
    name = request.group
    assert name is not None
    group = None if stream is None else stream.find_group(name)
    if stream is None or group is None:
        raise errors.no_such_key_or_group(key, name, " in XREADGROUP with GROUP option")
    if text == b">":
        delivery = group_reply.new_delivery(
            key, stream, group, NEW, request.nofields, request.where
        )
        if request.min_idle != _NO_CLAIM:
            delivery.claim(request.min_idle)
        if call.db.side:
            policy = dead_letters.policy_of(call, key, name)
            if policy is not None:
                delivery.follow(policy)
        if request.tells_deadline or request.tells_fence:
            delivery.tell(request.tells_deadline, request.tells_fence)
        return delivery
    if request.tells_deadline or request.tells_fence:
        raise OF_NEW_ONLY
    if text in LAST_IN_GROUP:
        raise LAST_IN_GROUP[text]
    after = stream_id.parse_id(text)
    return group_reply.new_delivery(key, stream, group, after, request.nofields, request.where)


def _serve(call: Call, request: Request, body: Encoder, delivery: Delivery) -> bool:
    """Write a stream's entries for the consumer, which is made if needed.

    False if not even an empty array is written.
    """
    key, group, policy = delivery.key, delivery.group, delivery.policy
    if policy is not None and policy.paused:
        return False
    if policy is not None and policy.active:
        name, reader = request.group or b"", request.consumer
        if not active_consumer.may_read(call, delivery, name, reader):
            return False
    if call.db.side and not stream_expiries.settle(call, key, MOST_EXPIRED):
        delivery.is_more = True
        return False
    is_of_new, min_idle = delivery.is_of_new(), delivery.min_idle
    consumer = group.find_consumer(request.consumer)
    entry = delivery.find_new() if is_of_new else None
    idle = None
    if min_idle != _NO_CLAIM:
        if delivery.awaits_backoff() or group.by_time.first_held() is not None:
            group_lapses.look(call, key, request.group or b"", delivery)
        idle = delivery.find_idle(min_idle, call.now_ms)
    if consumer is None:
        consumer = group.create_consumer(request.consumer, call.now_ms)
        log: Sequence[bytes] = (
            b"XGROUP", b"CREATECONSUMER", key, request.group or b"", request.consumer,
        )  # fmt: skip
        is_given = entry is not None and not request.noack and request.where is None
        if policy is None and (idle is not None or is_given):
            log = NOTHING  # what is logged of the entries makes the consumer, too
        call.db.group_changed(key, b"xgroup-createconsumer", changes=1, log=log)
    consumer.seen_time = call.now_ms
    if is_of_new and entry is None and idle is None:
        return False
    mark = body.size()
    if body.resp == 2:
        body.array(2)
    body.bulk(key)
    count, end = request.count_now(), request.max_size or NO_END
    is_first, now_ms = request.given == 0, call.now_ms
    if not is_of_new:
        given = delivery.write_history(body, consumer, count, now_ms, end, is_first)
    else:
        pends = not request.noack
        given = delivery.write_new(
            body, entry, consumer, count, pends, now_ms, end, is_first, min_idle
        )
    request.note(given, not delivery.is_cut)
    if delivery.dead:
        wakes = request.block_ms is None or not delivery.is_more
        dead_letters.bury(call, key, request.group or b"", delivery.dead, DELIVERIES, wakes)
    if is_of_new:
        if not given:
            body.truncate(mark)
            if delivery.has_passed:
                _log_position(call, request, delivery)
            return False
        _delivered(call, request, delivery)
    return True


def _delivered(call: Call, request: Request, delivery: Delivery) -> None:
    """Say that the group has moved on. A replica makes the same entries pending, and follows."""
    key, group, name = delivery.key, delivery.group, request.group
    call.server.blocking.delivered(call.db.index, key)
    if not call.is_logged:
        call.db.group_changed(key, None)
        return
    assert name is not None
    for pending in delivery.claimed:
        claim = group_steps.claim_words(key, name, request.consumer, pending, group)
        call.db.group_changed(key, None, changes=1, log=claim)
    if not delivery.given and not delivery.has_passed:
        return
    if not request.noack:
        now = b"%d" % call.now_ms
        for entry_id in delivery.given:
            text = entry_id.encode()
            claim = (
                b"XCLAIM", key, name, request.consumer, b"0", text, b"TIME", now,
                b"RETRYCOUNT", b"1", b"FORCE", b"JUSTID", b"LASTID", text,
            )  # fmt: skip
            call.db.group_changed(key, None, changes=0, log=claim)
    _log_position(call, request, delivery)


def _log_position(call: Call, request: Request, delivery: Delivery) -> None:
    """Log how far the group has come."""
    key, group, name = delivery.key, delivery.group, request.group or b""
    read = b"%d" % group.entries_read
    setid = (b"XGROUP", b"SETID", key, name, group.last_id.encode(), b"ENTRIESREAD", read)
    call.db.group_changed(key, None, changes=1, log=setid)


# ---------------------------------------------------------------------- MATCH


class Look:
    """What an XREAD MATCH that waits has seen: the ids after which it goes on, by key.

    Of other streams it reads what follows *after*. *todo* are the keys that it has not looked at
    yet, and *last* is the last of the readers' changes that it knows.
    """

    __slots__ = ("after", "last", "seen", "todo")

    def __init__(self, after: StreamId, last: int, todo: list[bytes]) -> None:
        self.after = after
        self.last = last
        self.seen: dict[bytes, StreamId] = {}
        self.todo = todo


def _readers(call: Call, request: Request) -> Readers:
    """Those who read these patterns for this group, as far as their keys are gathered."""
    patterns = call.server.blocking.patterns
    readers: Readers = patterns.readers(
        call.db, request.patterns or [], request.group, request.makes_groups
    )
    if not readers.is_complete:
        readers.names.gather(call.is_inside)
    return readers


def _may_use(call: Call, key: bytes, rights: int) -> bool:
    """Whether the user of the call has these rights on *key*."""
    client = call.client
    if not client.flags & RESTRICTED:
        return True
    row = TABLE.find(call.argv[0].lower())
    return row is not None and client.user.may_use(row, call.argv, key, rights)


def _stream_at(call: Call, readers: Readers, key: bytes) -> Stream | None:
    """The stream at *key*; None, and the name is forgotten, if there is none any more."""
    if type(call.db.peek(key)) is Stream:
        return call.db.read(key, Stream)
    readers.names.forget(key)
    return None


def _wait_for_patterns(
    request: Request, readers: Readers, reads_on: bool, wake_ms: int, look: Look | None
) -> Reply | Block:
    if request.block_ms is None and not reads_on:
        return NULL_ARRAY
    return new_block(
        [],
        Stream,
        request.block_ms or 0,
        NULL_ARRAY,
        NULL_ARRAY,
        on_no_key=True,  # whatever becomes of the keys
        wake_ms=wake_ms,
        reads_on=reads_on,
        readers=readers,
        resume=look,
    )


def _read_patterns(call: Call, request: Request) -> Reply | Block:
    """XREAD MATCH. O(streams that match) at first, then O(those to which something was added)."""
    readers = _readers(call, request)
    waiter = call.client.waiter if call.origin & WOKEN else None
    look: Look | None = None if waiter is None else waiter.block.resume
    if look is None:
        if not readers.is_complete:
            return _wait_for_patterns(request, readers, True, NO_CLAIM, None)
        look = _first_look(call, request, readers)
    else:
        look.todo = list(dict.fromkeys(look.todo + readers.since(look.last)))
        look.last = readers.last
    body = call.client.out.another()
    served = 0
    todo = look.todo
    for at, key in enumerate(todo):
        if request.is_full or (request.where is not None and request.where.is_cut):
            look.todo = todo[at:]
            break
        served += _look_at(call, request, readers, look, body, key)
    else:
        look.todo = []
    if served:
        return _with_head(body, served)
    is_cut = request.where is not None and request.where.is_cut
    return _wait_for_patterns(request, readers, is_cut or not readers.is_complete, NO_CLAIM, look)


def _first_look(call: Call, request: Request, readers: Readers) -> Look:
    """What a new call is to look at. ``$`` becomes the last ids of this moment."""
    text = call.argv[request.ids_at]
    keys = list(readers.keys)
    if text not in (b"$", LAST):
        return Look(_last_seen(None, text), readers.last, keys)
    if text == LAST:
        return Look(ZERO, readers.last, keys)
    look = Look(ZERO, readers.last, [])
    if request.block_ms is not None and not call.is_inside:
        for key in keys:
            stream = call.db.peek(key)
            if type(stream) is Stream:
                look.seen[key] = stream.last_id
    return look


def _look_at(
    call: Call, request: Request, readers: Readers, look: Look, body: Encoder, key: bytes
) -> bool:
    """Write what *key* has for the reader. False if that is nothing."""
    if not _may_use(call, key, READ):
        return False
    stream = _stream_at(call, readers, key)
    if stream is None:
        look.seen.pop(key, None)
        return False
    after = look.seen.get(key, look.after)
    if call.argv[request.ids_at] == LAST:
        after = _last_seen(stream, LAST)
    where = request.where
    if stream_id.compare(stream.last_id, after) <= 0:
        return False
    if _write_after(body, key, stream, after, request):
        readers.looked(key, False)
        return True
    if where is not None and where.passed:
        look.seen[key] = stream_id.make_id(where.last_ms, where.last_seq)
    if where is not None and where.is_cut:
        look.todo.append(key)
    return False


def _read_groups(call: Call, request: Request) -> Reply | Block:
    """XREADGROUP MATCH. O(streams that may have something); with CLAIM, of all that match."""
    readers = _readers(call, request)
    if not readers.is_complete:
        return _wait_for_patterns(request, readers, True, NO_CLAIM, None)
    keys = readers.fresh if request.min_idle == _NO_CLAIM else readers.keys
    body = call.client.out.another()
    served = 0
    waiting: list[Delivery] = []
    for _ in range(len(keys)):
        if request.is_full or not keys or (request.where is not None and request.where.is_cut):
            break
        key = next(iter(keys))
        if not _may_use(call, key, READ | WRITE if request.makes_groups else READ):
            readers.looked(key, False)  # others may
            continue
        delivery = _delivery_by_pattern(call, request, readers, key)
        if delivery is None:
            readers.looked(key, True)
            continue
        served += _serve(call, request, body, delivery)
        stream, group = delivery.stream, delivery.group
        is_read = stream.length == 0 or stream_id.compare(stream.last_id, group.last_id) <= 0
        readers.looked(key, is_read and delivery.policy is None)
        if delivery.is_more or delivery.policy is not None or delivery.min_idle != _NO_CLAIM:
            waiting.append(delivery)
    if served:
        return _with_head(body, served)
    is_cut = request.where is not None and request.where.is_cut
    return _wait_for_patterns(request, readers, is_cut, _ms_to_claim(call, waiting), None)


def _delivery_by_pattern(
    call: Call, request: Request, readers: Readers, key: bytes
) -> Delivery | None:
    """What is wanted from the stream at *key*; None if it has not the group, or is no stream.

    With MKGROUP the group is made, before the first entry.
    """
    stream = _stream_at(call, readers, key)
    name = request.group
    assert name is not None
    if stream is None:
        return None
    if stream.find_group(name) is None:
        if not request.makes_groups:
            return None
        stream.create_group(name, ZERO)
        log = (b"XGROUP", b"CREATE", key, name, b"0")
        call.db.group_changed(key, b"xgroup-create", changes=1, log=log)
    return _delivery(call, request, key, b">")
