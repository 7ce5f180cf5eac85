"""XREAD and XREADGROUP: entries of several streams at once; both can wait for new ones."""

from __future__ import annotations

from protocol.encoder import Encoder
from protocol.replies import Reply
from server.commands.streams.reading import (
    group_serving,
    stream_patterns,
    stream_request,
    stream_serving,
)
from server.commands.streams.reading.stream_request import Request
from server.commands.streams.reading.stream_serving import LAST
from server.dispatch.call import Call
from server.table.command import NO_CLAIM, Block, Flags, command
from server.table.documentation import OwnWords
from server.table.keys import ACCESS, RO, KeywordKeys
from storage.stream import stream_id
from storage.stream.stream import Stream
from storage.stream.stream_id import StreamId

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

READ_WORDS = (
    OwnWords("PRIORITY", "only the first of the streams that has something"),
    OwnWords("NOFIELDS", "IDs alone"),
    OwnWords("WHERE", "only entries that have one of these values in the field"),
    OwnWords("MATCH", "all streams whose names match, those included that are made later"),
)

_NO_CLAIM = NO_CLAIM  # as a C number


def _begin_reply(call: Call, request: Request) -> Encoder:
    """An encoder for the streams' entries. With a single stream its head is written at once."""
    body = call.client.out.another()
    if len(request.keys) == 1:
        if body.resp == 2:
            body.array(1)
        else:
            body.map(1)
    return body


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
    own=READ_WORDS,
)
def xread(call: Call) -> Reply | Block:
    """Returns the entries of several streams after the given IDs; waits for them if told to.

    XREAD [COUNT count] [MAXCOUNT max-count] [MAXSIZE max-size] [PRIORITY] [NOFIELDS]
    [WHERE field numvalues value [value ...]] [BLOCK milliseconds]
    <STREAMS key [key ...] id [id ...] | MATCH pattern [pattern ...] id>

    MATCH has at most 100 patterns, each of at most 1024 bytes.
    """
    request = stream_request.request_of(call, False)
    if request.patterns is not None:
        return stream_patterns.read_patterns(call, request)
    keys = request.keys
    seen = []
    body: Encoder | None = None  # until there is something to write
    served = 0
    for at, key in enumerate(keys, request.ids_at):
        stream = call.db.read(key, Stream)
        after = stream_serving.last_seen(stream, call.argv[at])
        seen.append(after)
        if request.look is not None and stream is not None:
            after = _after_passed(request, at, stream, after)
        if (
            stream is not None
            and not request.is_full
            and not (request.priority and served)
            and stream_id.compare(stream.last_id, after) > 0
        ):
            if body is None:
                body = _begin_reply(call, request)
            if stream_serving.write_after(body, key, stream, after, request):
                served += 1
            elif request.where is not None and request.where.passed and call.argv[at] != LAST:
                _note_passed(request, at)
    if body is not None and served:
        return body if len(keys) == 1 else stream_serving.with_head(body, served)
    asked = call.argv[request.ids_at :]
    ids = [
        text if text == LAST else after.encode() for text, after in zip(asked, seen, strict=True)
    ]
    return stream_serving.wait_for(call.argv, request, ids, _NO_CLAIM, None)


def _note_passed(request: Request, at: int) -> None:
    """Remember up to which entry of its stream number *at* nothing is what WHERE names."""
    where, passed = request.where, request.look
    assert where is not None
    if not isinstance(passed, dict):
        passed = request.look = {}
    passed[at] = stream_id.make_id(where.last_ms, where.last_seq)


def _after_passed(request: Request, at: int, stream: Stream, after: StreamId) -> StreamId:
    """The id after which to go on: *after*, unless WHERE has passed entries of this stream.

    One that ends before those was made again since: of it all that follows *after* is wanted.
    """
    passed = request.look
    assert isinstance(passed, dict)
    seen: StreamId = passed.get(at, after)
    return after if stream_id.compare(stream.last_id, seen) < 0 else seen


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
    own=[
        *READ_WORDS,
        OwnWords("MKGROUP", "with MATCH the group is made where it is missing"),
        OwnWords("WITHDEADLINE", "each entry ends with the time until which the consumer has it"),
        OwnWords("WITHFENCE", "each entry ends with the number of the active consumer's turn"),
    ],
)
def xreadgroup(call: Call) -> Reply | Block:
    """Delivers entries to a consumer: new ones or, again, pending ones. Waits if told to.

    XREADGROUP GROUP group consumer [COUNT count] [MAXCOUNT max-count] [MAXSIZE max-size]
    [PRIORITY] [NOFIELDS] [WHERE field numvalues value [value ...]] [BLOCK milliseconds]
    [CLAIM min-idle-time] [NOACK] [WITHDEADLINE] [WITHFENCE] [MKGROUP]
    <STREAMS key [key ...] id [id ...] | MATCH pattern [pattern ...] id>

    With WITHDEADLINE each entry ends with the time (unix, ms) until which the consumer has it by
    the VISIBILITY of the group; null if it has none. With WITHFENCE it ends with the number of the
    turn of the active consumer; null if the group never had ACTIVE. MATCH has at most 100 patterns,
    each of at most 1024 bytes.
    """
    request = stream_request.request_of(call, True)
    if request.patterns is not None:
        return stream_patterns.read_groups(call, request)
    deliveries = [
        group_serving.delivery_of(call, request, key, call.argv[at])
        for at, key in enumerate(request.keys, request.ids_at)
    ]
    if request.where is not None and group_serving.claims_any(deliveries):
        if group_serving.is_put_off(call, request):
            request.reads_on = True
            ids = call.argv[request.ids_at :]
            return stream_serving.wait_for(call.argv, request, ids, _NO_CLAIM, None)
        for delivery in deliveries:
            delivery.share_claims(len(deliveries))
    body = _begin_reply(call, request)
    served = 0
    added = group_serving.entries_added(deliveries)
    for delivery in deliveries:
        if request.is_full or (request.priority and served):
            break
        served += group_serving.serve(call, request, body, delivery)
    if served:
        if request.where is not None:
            group_serving.count_looks(call, request.where)
        return body if len(request.keys) == 1 else stream_serving.with_head(body, served)
    if request.block_ms is not None and group_serving.entries_added(deliveries) != added:
        request.reads_on = True  # a dead letter has come to a stream that was looked at before
    ids = call.argv[request.ids_at :]
    if request.goes_on() and len(deliveries) == 1 and not deliveries[0].is_of_new():
        # It goes on with what the consumer had before, and waits for nothing new.
        ids = [deliveries[0].after.encode()]
        request.block_ms = None
    wake_ms = group_serving.ms_to_claim(call, deliveries)
    if request.where is not None:
        group_serving.count_looks(call, request.where)
    # Who waits for several keys waits in several queues, beside others in each. Who has looked at a
    # part of what there is does not know it for others.
    is_cut = request.where is not None and request.goes_on()
    if len(deliveries) > 1 or is_cut:
        return stream_serving.wait_for(call.argv, request, ids, wake_ms, None)
    name = None
    if group_serving.finds_for_all(deliveries):
        name = request.group if group_serving.is_plain(request) else group_serving.name_of(request)
    active = group_serving.active_of(deliveries[0])
    return stream_serving.wait_for(call.argv, request, ids, wake_ms, name, active)
