"""XINFO ORDER: which values of a group with ORDERBY wait, and for whom."""

from __future__ import annotations

from heapq import nsmallest

from protocol.replies import ErrorReply, Reply
from server.commands.streams.groups import group_steps
from server.dispatch.call import Call
from server.table import errors
from server.table.args import Args
from server.table.command import Flags, command
from server.table.keys import ACCESS, RO, KeyRange
from storage.stream import lane_tail, lanes
from storage.stream import pending as pendings
from storage.stream.consumer_group import ConsumerGroup
from storage.stream.group_order import GroupOrder
from storage.stream.lane import Lane
from storage.stream.pending import PARKED
from storage.stream.stream import Stream

NO_ORDER = ErrorReply("ERR", "the group has no ORDERBY")
COUNT_NOT_POSITIVE = ErrorReply("ERR", "COUNT must be > 0")
FEW = 10  # values that are shown, unless COUNT says how many


@command(
    "XINFO ORDER",
    arity=-4,
    flags=Flags.READONLY,
    group="stream",
    since="0.1.0",
    complexity="O(N*log(M)) with N being the number of values with pending entries, and M of those "
    "that are shown; and of pending entries, if nobody has read since the server was started.",
    keys=KeyRange(RO | ACCESS, first=2),
)
def xinfo_order(call: Call) -> Reply:
    """Shows which values of the ORDERBY field have entries that wait, and what they wait for.

    XINFO ORDER key group [COUNT count]
    """
    key, name = call.argv[2], call.argv[3]
    args = Args(call.argv, 4)
    most = FEW
    while args.left():
        if args.left() == 1 or not args.skip(b"COUNT"):
            raise errors.SYNTAX
        most = args.take_positive(COUNT_NOT_POSITIVE)
    stream, group = group_steps.stream_and_group(call, key, name)
    policy = group_steps.policy_of(call, key, name)
    if policy is None or not policy.order_by:
        raise NO_ORDER
    order = group.order
    if order is None or order.field != policy.order_by:
        order = lanes.order_of(stream, group, policy.order_by, is_shown=True)
    waiting = [lane for lane in order.lanes.items() if isinstance(lane, Lane) and lane.waiting()]
    shown = nsmallest(most, waiting, key=_first_key)
    return {
        b"field": order.field,
        b"values": order.lanes.size,
        b"waiting": order.waiting,
        b"waiting-values": len(waiting),
        b"lanes": [_shown(stream, group, order, lane) for lane in shown],
    }


def _first_key(lane: Lane) -> bytes:
    assert lane.first is not None
    return lane_tail.key_of(lane.first)


def _shown(stream: Stream, group: ConsumerGroup, order: GroupOrder, lane: Lane) -> Reply:
    first = lane.first
    assert first is not None
    is_held = not lane.taken and 0 < first.delivery_time != PARKED
    return {
        b"value": lanes.value_in(stream, order, lane),
        b"first-id": pendings.id_of(first).encode(),
        b"waiting": lane.waiting(),
        b"delivered": lane.taken,
        b"consumer": _first_owner(group, lane),
        b"held-until": first.delivery_time if is_held else None,
    }


def _first_owner(group: ConsumerGroup, lane: Lane) -> bytes | None:
    """The name of the consumer that has the first entry that anybody has; None if nobody has."""
    pending = lane.first if lane.taken else None
    while pending is not None:
        owner = group.owner(pending)
        if owner is not None:
            return owner.name
        pending = lane.after(pending)
    return None
