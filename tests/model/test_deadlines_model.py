"""storage/side_data/deadlines.py against a dictionary of deadlines by ids."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from storage import allocation
from storage.side_data.deadlines import NEVER, Deadlines
from storage.stream.stream_id import StreamId
from tests.used_memory import used_at_start
from tests.worth import rounds

NUMBERS = st.sampled_from([0, 1, 2, 5, 2**40, 2**64 - 1])
IDS = st.tuples(NUMBERS, NUMBERS).filter(any)
TIMES = st.sampled_from([0, 1, 5, 6, 7, 2**53])
Place = tuple[int, int]


def key(entry_id: StreamId) -> Place:
    """What stands for an id here."""
    return entry_id.ms, entry_id.seq


class DeadlinesMachine(RuleBasedStateMachine):
    """Ids come in order and out of it, and so do deadlines."""

    def __init__(self) -> None:
        super().__init__()
        self.deadlines = Deadlines()
        self.model: dict[Place, int] = {}
        self.last = 0
        self.first_id = StreamId(0, 0)

    @rule(place=IDS, deadline_ms=TIMES)
    def put(self, place: Place, deadline_ms: int) -> None:
        """Any entry, at any time. Whether it is the first is told."""
        self.model.pop(place, None)
        is_first = deadline_ms < min(self.model.values(), default=NEVER)
        assert self.deadlines.put(StreamId(*place), deadline_ms) is is_first
        self.model[place] = deadline_ms

    @rule(count=st.integers(1, 90), step=st.integers(0, 3))
    def put_in_order(self, count: int, step: int) -> None:
        """Entries that all live equally long."""
        for _ in range(count):
            self.last += 1
            place = (10**6 + self.last // 3, self.last % 3)
            self.deadlines.put(StreamId(*place), 100 + step * self.last)
            self.model[place] = 100 + step * self.last

    @rule(place=IDS)
    def discard(self, place: Place) -> None:
        """An entry that may have none."""
        assert self.deadlines.discard(StreamId(*place)) is (self.model.pop(place, None) is not None)

    @rule(place=IDS, now_ms=TIMES)
    def ask(self, place: Place, now_ms: int) -> None:
        """Whether an entry has expired, that may have no deadline."""
        expired = {place for place, deadline_ms in self.model.items() if deadline_ms <= now_ms}
        for asked in {place, *list(self.model)[:3], *list(self.model)[-3:]}:
            found = self.deadlines.has_expired(StreamId(*asked), now_ms)
            assert found is (asked in expired)

    @rule(data=st.data())
    def discard_some(self, data: st.DataObject) -> None:
        """Entries that have one: from the middle, too."""
        places = sorted(self.model)
        some = data.draw(st.lists(st.sampled_from(places), unique=True)) if places else []
        for place in some:
            assert self.deadlines.discard(StreamId(*place))
            del self.model[place]

    @rule()
    def discard_most(self) -> None:
        """All but each seventh: the run is closed up."""
        for place in sorted(self.model)[::-1]:
            if hash(place) % 7:
                assert self.deadlines.discard(StreamId(*place))
                del self.model[place]

    @rule(until_ms=TIMES, most=st.integers(1, 20))
    def take_expired(self, until_ms: int, most: int) -> None:
        """As cron does: the first first."""
        due = sorted((when, place) for place, when in self.model.items() if when <= until_ms)
        found = self.deadlines.up_to(until_ms, most)
        assert [(when, key(entry_id)) for when, entry_id in found] == due[:most]
        for _, entry_id in found:
            assert self.deadlines.discard(entry_id)
            del self.model[key(entry_id)]

    @rule(place=IDS)
    def prune(self, place: Place) -> None:
        """Only what is before the id goes, and at least one of that."""
        before = {p for p in self.model if p < place}
        self.first_id = StreamId(*place)
        self.deadlines.prune(self.first_id)
        gone = self.forget_what_is_gone()
        assert gone <= before
        assert len(gone) >= min(1, len(before))

    @rule(times=st.integers(1, 40))
    def prune_again(self, times: int) -> None:
        """The stream still begins there: nothing else goes."""
        before = {p for p in self.model if p < key(self.first_id)}
        for _ in range(times):
            self.deadlines.prune(self.first_id)
        assert self.forget_what_is_gone() <= before

    @rule(place=IDS)
    def prune_all(self, place: Place) -> None:
        """A stream that begins at one entry for long: nothing before it is left."""
        before = {p for p in self.model if p < place}
        self.first_id = StreamId(*place)
        for _ in before:
            self.deadlines.prune(self.first_id)
        assert self.forget_what_is_gone() == before

    @rule()
    def forget_in_trees(self) -> None:
        """One of them goes."""
        if self.deadlines.in_trees():
            self.deadlines.forget_in_trees()
            assert len(self.forget_what_is_gone()) == 1

    def forget_what_is_gone(self) -> set[Place]:
        """Let the model lose what the deadlines have lost; return that."""
        gone = set(self.model) - {key(entry_id) for _, entry_id in self.deadlines.all()}
        for each in gone:
            del self.model[each]
        return gone

    @invariant()
    def they_are_the_same(self) -> None:
        pairs = sorted((when, place) for place, when in self.model.items())
        assert [(when, key(entry_id)) for when, entry_id in self.deadlines.all()] == pairs
        by_id = [(key(entry_id), when) for when, entry_id in self.deadlines.by_id()]
        assert by_id == sorted(self.model.items())
        assert self.deadlines.count() == len(self.model)
        assert self.deadlines.first() == (pairs[0][0] if pairs else NEVER)


TestDeadlines = DeadlinesMachine.TestCase
TestDeadlines.settings = settings(max_examples=rounds(200), stateful_step_count=30)


def test_deadlines_in_the_order_of_ids_take_24_to_30_bytes_each() -> None:
    before, deadlines = used_at_start(), Deadlines()
    for number in range(10_000):
        deadlines.put(StreamId(number + 1, 0), 5_000 + number)
        assert allocation.used_bytes() - before < 30 * number + 1_000
    for number in range(9_990):
        deadlines.discard(StreamId(number + 1, 0))
    assert deadlines.first() == 5_000 + 9_990
    assert allocation.used_bytes() - before < 20_000  # most of the room is given back
    deadlines.put(StreamId(1, 0), 1)  # one that does not fit
    deadlines.prune(StreamId(9_993, 0))
    assert [entry_id.ms for _, entry_id in deadlines.all()][:2] == [9_993, 9_994]
    del deadlines
    assert allocation.used_bytes() == before
