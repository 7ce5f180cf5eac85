"""A group's queue by time, with entries ahead, held and gone, against a plain list."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from storage.stream import pending as pendings
from storage.stream.consumer_group import Consumer, ConsumerGroup
from storage.stream.pending import FEW, PARKED, id_of
from storage.stream.stream_id import ZERO, StreamId
from tests.worth import rounds

START_MS = 1_000_000


class QueueMachine(RuleBasedStateMachine):
    """The model: each entry's place, (0, turn) if released, else (1, time, turn)."""

    def __init__(self) -> None:
        super().__init__()
        self.group = ConsumerGroup(ZERO)
        self.alice: Consumer = self.group.create_consumer(b"alice", 0)
        self.now = START_MS
        self.turn = 0
        self.places: dict[int, tuple[int, ...]] = {}
        self.held: dict[int, int] = {}  # until when
        self.gone: set[int] = set()
        self.next_id = 1

    def _queued(self) -> list[int]:
        return sorted(self.places, key=self.places.__getitem__)

    def _any(self, data: st.DataObject) -> StreamId:
        known = sorted([*self.places, *self.held])
        return StreamId(data.draw(st.sampled_from(known)), 0)

    def _put(self, ms: int, *place: int) -> None:
        self.turn += 1
        self.held.pop(ms, None)
        self.places[ms] = (*place, self.turn)

    @rule(count=st.sampled_from([1, 2, 40]))
    def deliver(self, count: int) -> None:
        for _ in range(count):
            self.group.deliver(StreamId(self.next_id, 0), self.alice, self.now)
            self._put(self.next_id, 1, self.now)
            self.next_id += 1
        # so few are in the way of the next one
        queued = [self.places[ms][1] for ms in self._queued() if self.places[ms][0]]
        ahead = len([time for time in queued if time > self.now])
        assert ahead - self.group.by_time.check() <= FEW

    @precondition(lambda self: self.places or self.held)
    @rule(
        data=st.data(),
        more_ms=st.integers(-50, 500) | st.just(PARKED),
        count=st.sampled_from([1, 1, 8]),
    )
    def claim(self, data: st.DataObject, more_ms: int, count: int) -> None:
        for _ in range(count):  # as XCLAIM IDLE does, of all with one time
            self._claim(self._any(data), more_ms)

    def _claim(self, entry_id: StreamId, more_ms: int) -> None:
        pending = self.group.find(entry_id)
        assert pending is not None
        until = min(self.now + more_ms, PARKED)
        self.group.claim(pending, self.alice, until, self.now)
        self._put(entry_id.ms, 1, until)

    @precondition(lambda self: self.places)
    @rule(data=st.data(), apart=st.integers(0, 3), count=st.integers(1, 60))
    def extend(self, data: st.DataObject, apart: int, count: int) -> None:
        queued = self._queued()
        chosen = data.draw(st.permutations(queued))[:count]
        for at, ms in enumerate(chosen):
            pending = self.group.find(StreamId(ms, 0))
            assert pending is not None
            until = self.now + 300 + (at % 7) * apart
            self.group.claim(pending, self.alice, until, self.now)
            self._put(ms, 1, until)

    @precondition(lambda self: self.places or self.held)
    @rule(data=st.data(), hold_ms=st.sampled_from([0, 20, 100, PARKED]))
    def release(self, data: st.DataObject, hold_ms: int) -> None:
        entry_id = self._any(data)
        pending = self.group.find(entry_id)
        assert pending is not None
        if hold_ms:
            until = min(self.now + hold_ms, PARKED)
            self.group.hold(pending, until)
            self.places.pop(entry_id.ms, None)
            self.held[entry_id.ms] = until
        else:
            self.group.release(pending)
            self._put(entry_id.ms, 0)

    @precondition(lambda self: self.places or self.held)
    @rule(data=st.data())
    def acknowledge(self, data: st.DataObject) -> None:
        entry_id = self._any(data)
        assert self.group.ack(entry_id)
        self.places.pop(entry_id.ms, None)
        self.held.pop(entry_id.ms, None)
        self.gone.discard(entry_id.ms)

    @rule(ms=st.sampled_from([1, 10, 100, 400, -30, -300]))
    def time_passes(self, ms: int) -> None:
        self.now += ms

    @rule()
    def ripen(self) -> None:
        self.group.by_time.ripen(self.now, 1000)
        for ms in sorted(self.held, key=lambda ms: (self.held[ms], ms)):
            if self.held[ms] <= self.now:
                self._put(ms, 0)

    @precondition(lambda self: self.places)
    @rule(data=st.data())
    def delete_entry(self, data: st.DataObject) -> None:
        for ms in data.draw(st.permutations(self._queued()))[:10]:
            self.gone.add(ms)

    @rule()
    def walk(self) -> None:
        """As a reader does that looks for the first entry that is there."""
        by_time = self.group.by_time
        pending = by_time.first_left()
        while pending is not None and pending.ms in self.gone:
            by_time.is_gone(pending)
            pending = pendings.newer_of(pending)
        there = [ms for ms in self._queued() if ms not in self.gone]
        assert (None if pending is None else pending.ms) == (there[0] if there else None)

    @invariant()
    def is_in_order(self) -> None:
        self.group.by_time.check()
        queue = list(self.group.by_time)
        assert [entry.ms for entry in queue] == self._queued()
        held = sorted(self.held, key=lambda ms: (self.held[ms], ms))
        assert [entry.ms for entry in self.group.by_time.held()] == held
        left = self.group.by_time.first_left()
        passed = queue if left is None else queue[: queue.index(left)]
        assert {entry.ms for entry in passed} <= self.gone

    @invariant()
    def what_is_due_is_found(self) -> None:
        for min_idle in (1, 60):
            idle = {
                ms
                for ms, place in self.places.items()
                if place[0] == 0 or place[1] <= self.now - min_idle
            }
            idle |= {ms for ms, until in self.held.items() if until <= self.now}
            ripe = [pending.ms for pending in self.group.by_time.ripe(self.now, 1000)]
            by_age = ripe + [ms for ms in self._queued() if ms in idle]
            for most in (len(idle), len(idle) + 1, len(idle) // 2):
                due = self.group.due(min_idle, self.now, most)
                assert [id_of(pending).ms for pending in due] == sorted(by_age[:most])
            assert sorted(by_age) == sorted(idle)


QueueMachine.TestCase.settings = settings(
    max_examples=rounds(120), stateful_step_count=40, deadline=None
)
TestQueueModel = QueueMachine.TestCase
