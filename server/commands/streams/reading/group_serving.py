"""What one stream gives to XREADGROUP, and what is logged of it."""

from __future__ import annotations

import secrets

from protocol.encoder import Encoder
from protocol.replies import ErrorReply
from server.commands.streams.adding import stream_expiries
from server.commands.streams.groups import dead_letters, group_orders, group_steps
from server.commands.streams.groups.dead_letters import DELIVERIES
from server.commands.streams.reading import (
    active_consumer,
    deliverable,
    group_lapses,
    group_reply,
    group_writer,
)
from server.commands.streams.reading.delivery import MOST_CLAIMS, NEW, Delivery, new_delivery
from server.commands.streams.reading.stream_request import NO_LIMIT, Request
from server.commands.streams.reading.stream_serving import NO_END
from server.dispatch.call import Call
from server.table import errors
from server.table.command import NO_CLAIM
from storage.keyspace.key_changes import NOTHING
from storage.side_data.group_policy import GROUP_POLICY, GroupPolicy
from storage.side_data.schedule import SCHEDULE
from storage.side_data.side_data import SideData
from storage.stream import stream_id
from storage.stream.consumer_group import Consumer
from storage.stream.entry_filter import EntryFilter
from storage.stream.stream import Stream
from storage.stream.stream_iterator import StreamIterator

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
_NO_CLAIM = NO_CLAIM  # as a C number
DEAD_AGAIN_MS = 1000  # after which it is looked again whether dead letters can be moved
MOST_LOOKS = MOST_CLAIMS  # at pending entries, for WHERE, before a call is put off: of a turn
_SECRET = secrets.token_bytes(16)  # so begins no name of a group
MOST_EXPIRED = 1000  # entries that are removed before one is served; with more, nothing is


def delivery_of(call: Call, request: Request, key: bytes, text: bytes) -> Delivery:
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
        delivery = new_delivery(key, stream, group, NEW, request.nofields, request.where)
        if request.min_idle != _NO_CLAIM:
            delivery.claim(request.min_idle)
        side: SideData | None = call.db.side_of(key) if call.db.side else None
        policy: GroupPolicy | None = None if side is None else side.get(GROUP_POLICY, name)
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
    return new_delivery(key, stream, group, after, request.nofields, request.where)


def ms_to_claim(call: Call, deliveries: list[Delivery]) -> int:
    """After how many ms the first entry may be claimed, for ``wake_ms`` of a Block.

    A group with a policy may give something as soon as entries leave it: 0, if nothing earlier.
    The active consumer of a group, which has found nothing, may be silent after TIMEOUT.
    """
    earliest = _NO_CLAIM
    for delivery in deliveries:
        policy, turn_ms = delivery.policy, delivery.turn_ms
        is_paused = policy is not None and policy.paused
        if turn_ms:
            is_paused = True
        elif policy is not None and policy.active and not is_paused:
            turn_ms = policy.timeout_ms
        if turn_ms > 0 and (earliest <= 0 or turn_ms < earliest):
            earliest = turn_ms
        if delivery.dead_stay and not is_paused and (earliest <= 0 or earliest > DEAD_AGAIN_MS):
            earliest = DEAD_AGAIN_MS  # that they can be moved again is no event of their stream
        if delivery.is_more and not is_paused:
            earliest = 1
        elif delivery.min_idle != _NO_CLAIM and not is_paused:
            wake_ms = deliverable.ms_to_idle(delivery, delivery.min_idle, call.now_ms)
            held_ms = deliverable.ms_to_held(delivery, call.now_ms)
            if held_ms and (wake_ms == 0 or held_ms < wake_ms):
                wake_ms = held_ms
            if wake_ms and (earliest <= 0 or wake_ms < earliest):
                earliest = wake_ms
        if earliest == _NO_CLAIM and (
            delivery.min_idle != _NO_CLAIM or delivery.policy is not None
        ):
            earliest = 0
    return earliest


def is_put_off(call: Call, request: Request) -> bool:
    """Whether the call is to go on in another turn: in this one, WHERE has looked at much.

    It compares pending entries anew in each call, and the calls of many clients may run in a turn:
    the limit defends all others against them. A transaction or script does not wait.
    """
    if request.where is None or call.is_inside():
        return False
    looks: int = call.server.blocking.looks
    return looks >= MOST_LOOKS


def count_looks(call: Call, where: EntryFilter) -> None:
    """Count the pending entries that *where* has looked at as looks of this turn."""
    call.server.blocking.looks += where.looks
    where.looks = 0


def claims_any(deliveries: list[Delivery]) -> bool:
    """Whether any of them may give what others were given."""
    for delivery in deliveries:  # noqa: SIM110  compiled, there are no generators
        if delivery.min_idle != _NO_CLAIM:
            return True
    return False


def name_of(request: Request) -> bytes:
    """What stands for all who want the same of its group, if the request is not plain."""
    where = request.where
    digest = b"" if where is None else where.digest()
    return b"%b%d %d %d %b%b" % (
        _SECRET, request.noack, request.min_idle, len(digest), digest, request.group or b"",
    )  # fmt: skip


def is_plain(request: Request) -> bool:
    """Whether it wants no other entries than most requests do."""
    return request.where is None and not request.noack and request.min_idle == _NO_CLAIM


def finds_for_all(deliveries: list[Delivery]) -> bool:
    """Whether no other consumer who wants the same would find more than this one has.

    But for the active consumer of a group in which this one stands by: see active_of().
    """
    for delivery in deliveries:  # noqa: SIM110  compiled, there are no generators
        if _is_limited(delivery):
            return False
    return True


def _is_limited(delivery: Delivery) -> bool:
    """Whether others may be given what this consumer has no room for."""
    policy = delivery.policy
    is_full = delivery.room <= 0 or delivery.has_left_some
    return policy is not None and policy.max_pending_of_one > 0 and is_full


def active_of(delivery: Delivery) -> bytes | None:
    """The active consumer of a group with ACTIVE in which this one stands by, else None."""
    policy = delivery.policy
    return policy.active_consumer if policy is not None and delivery.turn_ms else None


def rests(request: Request, delivery: Delivery) -> bool:
    """Whether a stream that has given nothing has nothing for any who want the same.

    That is so until something happens to it, or the moment of ms_to_rest() comes.
    """
    policy = delivery.policy
    if policy is None and delivery.min_idle == _NO_CLAIM:
        return False  # it is stale, or more comes at once
    if delivery.is_more or delivery.is_cut or request.goes_on():
        return False
    if policy is not None and policy.active:
        return True  # nobody else may read it
    return not _is_limited(delivery)


def ms_to_rest(call: Call, delivery: Delivery) -> int:
    """After how many ms a stream that rests may have something; 0 or less: never by time."""
    return ms_to_claim(call, [delivery])


def entries_added(deliveries: list[Delivery]) -> int:
    """How many entries were ever added to the streams; 0 for a single one. O(streams).

    Among several streams one may have the dead letters of another.
    """
    added = 0
    if len(deliveries) > 1:
        for delivery in deliveries:
            added += delivery.stream.entries_added
    return added


def serve(call: Call, request: Request, body: Encoder, delivery: Delivery) -> bool:
    """Write a stream's entries for the consumer, which is made if needed.

    False if not even an empty array is written. Of what the consumer had before, WHERE looks at no
    more than one call may, if there is one stream: with others, each has to tell what it has.
    """
    policy, min_idle = delivery.policy, delivery.min_idle
    if policy is not None and not _may_read(call, request, delivery, policy):
        return False
    side: SideData | None = call.db.side_of(delivery.key) if call.db.side else None
    if side is not None and side.get(SCHEDULE) is not None and not _settle(call, request, delivery):
        return False
    if not delivery.is_of_new():
        consumer = _seen_consumer(call, request, delivery, False)
        return _serve_history(call, request, body, delivery, consumer)
    entry, idle = deliverable.find_new(delivery), None
    if min_idle != _NO_CLAIM:
        _look(call, request, delivery)
        idle = deliverable.find_idle(delivery, min_idle, call.now_ms)
    is_given = entry is not None and not request.noack and request.where is None
    consumer = _seen_consumer(call, request, delivery, idle is not None or is_given)
    if entry is None and idle is None and not delivery.has_ready():
        return False
    if idle is None and (request.where is None or policy is None):
        min_idle = _NO_CLAIM  # as most often
    if _serve_new(call, request, body, delivery, consumer, entry, min_idle):
        return True
    if delivery.has_new_consumer:  # the first entry was too large for what was given before
        _log_consumer(call, request, delivery)
    return False


def _may_read(call: Call, request: Request, delivery: Delivery, policy: GroupPolicy) -> bool:
    """Whether the group is not paused, and it is the consumer's turn in a group with ACTIVE."""
    if policy.paused:
        return False
    if not policy.active or policy.active_consumer == request.consumer:
        return True
    return active_consumer.may_read(call, delivery, request.group or b"", request.consumer)


def _seen_consumer(call: Call, request: Request, delivery: Delivery, is_given: bool) -> Consumer:
    """The consumer, made if needed; it is seen now.

    Without a policy, what is logged of the entries that it *is_given* makes it, too: so it is not
    logged by itself, unless nothing is given after all.
    """
    group = delivery.group
    consumer = group.find_consumer(request.consumer)
    if consumer is None:
        consumer = group.create_consumer(request.consumer, call.now_ms)
        delivery.has_new_consumer = is_given and delivery.policy is None
        call.db.group_changed(delivery.key, b"xgroup-createconsumer", changes=1, log=NOTHING)
        if not delivery.has_new_consumer:
            _log_consumer(call, request, delivery)
    consumer.seen_time = call.now_ms
    return consumer


def _log_consumer(call: Call, request: Request, delivery: Delivery) -> None:
    words = (b"XGROUP", b"CREATECONSUMER", delivery.key, request.group or b"", request.consumer)
    call.db.group_changed(delivery.key, None, changes=0, log=words)


def _serve_history(
    call: Call, request: Request, body: Encoder, delivery: Delivery, consumer: Consumer
) -> bool:
    """Write what the consumer has already; what was delivered too often is moved instead."""
    mark = _begin(body, delivery)
    may_stop = len(request.keys) == 1
    name = request.group or b""
    policy = group_steps.policy_of(call, delivery.key, name)
    if policy is not None and policy.max_deliveries:
        delivery.follow(policy)
        delivery.dead_stay = not dead_letters.can_move(call, delivery.key, policy)
    given = group_reply.write_history(
        body,
        delivery,
        consumer,
        request.count_now(),
        call.now_ms,
        request.max_size or NO_END,
        request.given == 0,
        may_stop,
    )
    if delivery.dead:
        dead_letters.bury(call, delivery.key, name, delivery.dead, DELIVERIES)
    if may_stop and not given and request.goes_on():
        body.truncate(mark)
        return False
    request.note(given, not delivery.is_cut)
    # Without a policy that goes by when, and how often, it is not logged: as in Redis.
    counts = policy is not None and (policy.visibility_ms > 0 or policy.max_deliveries > 0)
    if counts and delivery.claimed and call.is_logged:
        _log_claimed(call, request, delivery)
    return True


def _serve_new(
    call: Call,
    request: Request,
    body: Encoder,
    delivery: Delivery,
    consumer: Consumer,
    entry: StreamIterator | None,
    min_idle: int,
) -> bool:
    """Write the new entries from *entry* on, and what is claimed; move the dead that were found."""
    mark = _begin(body, delivery)
    writer = group_writer.new_writer(
        body,
        delivery,
        consumer,
        request.count_now(),
        not request.noack,
        call.now_ms,
        request.max_size or NO_END,
        request.given == 0,
    )
    given = group_reply.write_new(body, writer, entry, min_idle)
    request.note(given, not delivery.is_cut)
    request.reads_on = request.reads_on or delivery.reads_on
    if delivery.dead:
        _bury(call, request, delivery, given)
    if not given:
        body.truncate(mark)
        _log_passed(call, request, delivery)
        return False
    _delivered(call, request, delivery)
    return True


def _begin(body: Encoder, delivery: Delivery) -> int:
    """Write what stands before the entries; return where that begins."""
    mark = body.size()
    if body.resp == 2:
        body.array(2)
    body.bulk(delivery.key)
    return mark


def _bury(call: Call, request: Request, delivery: Delivery, given: int) -> None:
    """Move the dead that were found. If nothing else was given, what comes after them is next.

    Others are woken for the rest, unless the client itself waits: it would wake itself.
    """
    is_waiting = request.block_ms is not None or call.client.waiter is not None
    wakes = not is_waiting or not delivery.is_more
    name = request.group or b""
    moved = dead_letters.bury(call, delivery.key, name, delivery.dead, DELIVERIES, wakes)
    if moved and not given and delivery.has_ready():
        delivery.is_more = True


def _settle(call: Call, request: Request, delivery: Delivery) -> bool:
    """Remove what has expired; whether all is gone. If not, the consumer was seen at least."""
    delivery.is_more = not stream_expiries.settle(call, delivery.key, MOST_EXPIRED)
    if delivery.is_more:
        consumer = delivery.group.find_consumer(request.consumer)
        if consumer is not None:
            consumer.seen_time = call.now_ms
    return not delivery.is_more


def _look(call: Call, request: Request, delivery: Delivery) -> None:
    """See what is due in the group by its policy."""
    key, group, name = delivery.key, delivery.group, request.group or b""
    policy, order = delivery.policy, group.order
    if policy is None or not policy.order_by or call.is_replayed():
        order = None
    elif order is None or order.field != policy.order_by:
        order = group_orders.order_of(call, key, name, policy, delivery.stream, group)
    if policy is not None and policy.max_deliveries:
        has_ready = order is not None and order.ready.size > 0
        if has_ready or deliverable.is_any_or_released(delivery, call.now_ms):
            delivery.dead_stay = not dead_letters.can_move(call, key, policy)
    if order is not None:
        delivery.follow_order(order)
        if call.is_inside():
            delivery.most_parked = NO_LIMIT  # a transaction or script is not run again
        if deliverable.is_any(delivery, call.now_ms):
            _look_in_order(call, request, delivery)
    elif group.by_time.first_held() is not None or _has_lapsed(call, delivery):
        group_lapses.look(call, key, name, delivery)


def _look_in_order(call: Call, request: Request, delivery: Delivery) -> None:
    """As _look(), in a group with ORDERBY.

    CLAIM takes from other consumers no more than it is to give; what is ready is given before that.
    """
    group, policy, count = delivery.group, delivery.policy, request.count_now()
    reader, most = None, 0
    if delivery.tells_deliveries and not (count and delivery.has_ready()):
        reader, most = group.find_consumer(request.consumer), count or NO_LIMIT
        most_of_one = 0 if policy is None else policy.max_pending_of_one
        if most_of_one:
            had = 0 if reader is None else len(reader.pel)
            most = 0 if delivery.has_ready() else min(most, most_of_one - had)
    name = request.group or b""
    group_lapses.look_in_order(call, delivery.key, name, delivery, reader, most)


def _has_lapsed(call: Call, delivery: Delivery) -> bool:
    """Whether BACKOFF may hold what was not acknowledged in time."""
    first, policy = delivery.group.by_time.first_not_due(call.now_ms), delivery.policy
    if first is None or policy is None or not delivery.awaits_backoff():
        return False
    return delivery.group.is_idle(first, policy.visibility_ms, call.now_ms)


def _delivered(call: Call, request: Request, delivery: Delivery) -> None:
    """Say that the group has moved on. A replica makes the same entries pending, and follows."""
    key, name = delivery.key, request.group
    call.server.blocking.delivered(call.db.index, key)
    if not call.is_logged:
        call.db.group_changed(key, None)
        return
    assert name is not None
    _log_claimed(call, request, delivery)
    if not request.noack:
        now = b"%d" % call.now_ms
        for entry_id in delivery.given:
            text = entry_id.encode()
            claim = (
                b"XCLAIM", key, name, request.consumer, b"0", text, b"TIME", now,
                b"RETRYCOUNT", b"1", b"FORCE", b"JUSTID", b"LASTID", text,
            )  # fmt: skip
            call.db.group_changed(key, None, changes=0, log=claim)
    _log_passed(call, request, delivery)


def _log_claimed(call: Call, request: Request, delivery: Delivery) -> None:
    """Log whose the entries are that were delivered again, since when, and how often."""
    key, group, name = delivery.key, delivery.group, request.group or b""
    for pending in delivery.claimed:
        claim = group_steps.claim_words(key, name, request.consumer, pending, group)
        call.db.group_changed(key, None, changes=1, log=claim)


def _log_passed(call: Call, request: Request, delivery: Delivery) -> None:
    """Log which entries wait for their turn, or have gone, and how far the group has come."""
    key, group, name = delivery.key, delivery.group, request.group or b""
    if not (delivery.given or delivery.has_passed or delivery.gone):
        return
    if not call.is_logged:
        call.db.group_changed(key, None)
        return
    if delivery.parked:
        group_steps.log_released(call, key, name, delivery.parked)
    for entry_id in delivery.gone:
        log = (b"XACK", key, name, entry_id.encode())
        call.db.group_changed(key, None, changes=1, log=log)
    if not delivery.given and not delivery.has_passed:
        return
    read = b"%d" % group.entries_read
    setid = (b"XGROUP", b"SETID", key, name, group.last_id.encode(), b"ENTRIESREAD", read)
    call.db.group_changed(key, None, changes=1, log=setid)
