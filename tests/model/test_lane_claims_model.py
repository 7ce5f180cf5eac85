"""LaneClaims against what is seen when a lane is walked over for each entry that is claimed."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from server.commands.streams.groups import group_orders
from storage.stream.consumer_group import Consumer, ConsumerGroup
from storage.stream.group_order import GroupOrder
from storage.stream.lane_claims import LaneClaims
from storage.stream.pending import NOBODY, Pending, id_of
from storage.stream.stream_id import ZERO, StreamId
from tests.worth import rounds

NAMES = (b"ann", b"bob", b"cid")
LANES = (1, 2)

# Who has an entry (None: nobody), and its lane (0: none).
entries = st.lists(
    st.tuples(st.sampled_from((*NAMES, NAMES[0], None)), st.sampled_from((0, 1, 1, 1, 2))),
    min_size=3,
)


class Ordered:
    """A group whose entries 1-0, 2-0, ... have owners and lanes."""

    def __init__(self, rows: list[tuple[bytes | None, int]]) -> None:
        self.group = ConsumerGroup(ZERO)
        self.consumers: dict[bytes, Consumer] = {
            name: self.group.create_consumer(name, 0) for name in NAMES
        }
        self.order = self.group.order = GroupOrder(b"field")
        self.lanes: dict[int, list[Pending]] = {number: [] for number in (0, *LANES)}
        self.pending: list[Pending] = []
        for at, (name, lane) in enumerate(rows):
            entry_id = StreamId(at + 1, 0)
            if name is None:
                pending = self.group.force_released(entry_id, lane)
            else:
                pending = self.group.deliver(entry_id, self.consumers[name], 1, lane)
            self.pending.append(pending)
            self.lanes[lane].append(pending)

    def leave(self, pending: Pending) -> None:
        """An entry is not pending any more."""
        self.group.ack(id_of(pending))
        self.pending.remove(pending)
        for lane in self.lanes.values():
            if pending in lane:
                lane.remove(pending)

    def lane_of(self, pending: Pending) -> list[Pending]:
        """All entries of its lane; none, if it has no lane."""
        found = [lane for number, lane in self.lanes.items() if number and pending in lane]
        return found[0] if found else []


@settings(max_examples=rounds(300))
@given(entries, st.data())
def test_what_may_be_claimed_and_what_others_lose(
    rows: list[tuple[bytes | None, int]], data: st.DataObject
) -> None:
    ordered = Ordered(rows)
    ann = ordered.consumers[b"ann"]
    claims = LaneClaims(ordered.order, ann.index)
    for _ in range(data.draw(st.integers(1, 20))):
        if not ordered.pending:
            break
        pending = data.draw(st.sampled_from(ordered.pending))
        lane = ordered.lane_of(pending)
        before = [one for one in lane if one.ms < pending.ms]
        may = all(one.consumer_index == ann.index for one in before)
        assert claims.may_claim(pending) is may
        if data.draw(st.integers(0, 3)) == 0:  # it is dead, or was deleted from the stream
            ordered.leave(pending)
        elif may and data.draw(st.booleans()):
            ordered.group.claim(pending, ann, 2)
            lost = [
                one
                for one in lane
                if one.ms > pending.ms and one.consumer_index not in (NOBODY, ann.index)
            ]
            assert claims.others_after(pending) == lost
            group_orders.park(ordered.group, lost)


def test_an_entry_that_becomes_the_first_of_its_lane_meanwhile_is_not_passed_over() -> None:
    ordered = Ordered([(b"ann", 1), (None, 1), (None, 1)])
    first, _, last = ordered.pending
    claims = LaneClaims(ordered.order, ordered.consumers[b"ann"].index)
    assert not claims.may_claim(last)
    ordered.leave(first)
    assert not claims.may_claim(last)
