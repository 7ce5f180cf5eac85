# cython: boundscheck=False, wraparound=False
"""Makes the order of a group (see group_order.py) from what is pending in it."""

from __future__ import annotations

from storage import octets, xxh3
from storage.listpack import element_octets
from storage.listpack.listpack import Listpack
from storage.stream import pending as pendings
from storage.stream.consumer_group import ConsumerGroup
from storage.stream.group_order import GroupOrder
from storage.stream.lane import Lane
from storage.stream.pending import PARKED, Pending
from storage.stream.stream import Stream
from storage.stream.stream_iterator import StreamIterator

LONGEST = 64  # bytes of a value that is shown whole
SHOWN = 47  # of a longer one, besides its hash
MAX_INT_TEXT = 20  # digits and sign
LOOKS = 100  # entries of a lane that are looked at for its value; most often the first has it
_NINE = ord("9")
_U64 = 2**64 - 1

# Python keys its hashes: nobody outside can choose a value that has the lane of another one.
_SECRET = b"".join((hash(b"lanes %d" % n) & _U64).to_bytes(8, "little") for n in range(24))
_KEY = hash(b"lanes of numbers") & _U64


def lane_of(entry: StreamIterator, field: bytes) -> int:
    """The number of the lane of the entry at which *entry* stands; 0 if it has not the field."""
    node: Listpack | None = entry.node
    at = entry.place_of(field)
    if node is None or at < 0:
        return 0
    data = node.data
    size = element_octets.short_size(data, at)
    if size >= 4 and data[at + 1] > _NINE:  # as most often
        return xxh3.keyed(data, at + 1, size, _SECRET) or 1
    return _number_at(node, at)


def _number_at(node: Listpack, at: int) -> int:
    """What stands for the value at *at*: a keyed hash of its number, or of its text; never 0.

    A number is one also where it is written as text, as RESTORE may have it.
    """
    data = node.data
    if not element_octets.is_string(data, at):
        return xxh3.avalanche(element_octets.number_at(data, at) & _U64 ^ _KEY) or 1
    start = at + element_octets.head_size(data, at)
    size = at + element_octets.encoded_size(data, at) - start
    if 0 < size <= MAX_INT_TEXT and data[start] <= _NINE:
        text = node.get_bytes(at)
        if octets.is_int64(text):
            return xxh3.avalanche(octets.int64_of(text) & _U64 ^ _KEY) or 1
    if 4 <= size <= 240:
        return xxh3.keyed(data, start, size, _SECRET) or 1
    return hash(node.get_bytes(at)) & _U64 or 1


def value_in(stream: Stream, order: GroupOrder, lane: Lane) -> bytes | None:
    """The value of *lane*, as named() has it; None if its first LOOKS entries were deleted."""
    pending = lane.first
    for _ in range(LOOKS):
        if pending is None:
            break
        entry_id = pendings.id_of(pending)
        entry = stream.range(entry_id, entry_id)
        if entry.next() and lane_of(entry, order.field) == lane.number:
            value = entry.value_of(order.field)
            assert value is not None
            return named(value)
        pending = lane.after(pending)
    return None


def named(value: bytes) -> bytes:
    """*value*, or of a long one how it begins, and its hash."""
    if len(value) <= LONGEST:
        return value
    return value[:SHOWN] + b"#%016x" % xxh3.hashed(value)


def order_of(
    stream: Stream, group: ConsumerGroup, field: bytes, is_shown: bool = False
) -> GroupOrder:
    """The order of what is pending in the group by *field*: a new one. O(N log N).

    An entry that was deleted has no lane, as one without the field. If it *is_shown* only, the
    order that the group has is left as it is.
    """
    order = GroupOrder(field, is_shown)
    place = group.pel.seek("^")
    entry = stream.finder()
    while place.next():
        pending: Pending = place.value
        is_there = entry.find(pendings.id_of(pending))
        number = lane_of(entry, field) if is_there else 0
        if number:
            order.add(place.current_key(), pending, number)
        else:
            order.passed(pending)
    return order


def begin(stream: Stream, group: ConsumerGroup, field: bytes) -> list[Pending]:
    """Let the group have an order by *field*. O(N log N) in its pending entries.

    What was released and has a lane is parked, and what is parked without one is released. These
    entries are returned.
    """
    group.forget_order()
    group.order = order = order_of(stream, group, field)
    moved = []
    for pending in [*group.by_time.released(), *group.by_time.held()]:
        is_parked = pending.delivery_time == PARKED
        has_lane = order.has_lane(pending)
        if is_parked != has_lane and (is_parked or pending.delivery_time == 0):
            group.release(pending)
            moved.append(pending)
    return moved


def end(group: ConsumerGroup) -> list[Pending]:
    """Let the group have no order. What is parked is released, and returned. O(N log N)."""
    group.forget_order()
    parked = [pending for pending in group.by_time.held() if pending.delivery_time == PARKED]
    for pending in parked:
        group.release(pending)
    return parked
