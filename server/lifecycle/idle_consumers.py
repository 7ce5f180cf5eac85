"""Consumers that are silent for CONSUMERTIMEOUT are deleted; what they had goes to their group.

    1. A round goes over the groups of which a consumer may be silent for so long by now, and over
       their consumers, in slices of SLICE_S: it goes on where the last slice has ended. It knows
       the streams by the moment at which that may be; now and then one goes over all of them.
    2. A silent consumer that waits in an XREADGROUP is not silent: it is seen now.
    3. One that does not is looked at again after a quarter of the time: between two waits there is
       always a moment without one. Is it silent still, its entries are released: they are the next
       that the group gives, with their counts. Then it is deleted.

It is logged as XNACK and XGROUP DELCONSUMER; a replica deletes no consumer by itself. While writes
are refused or held back, all waits. When the clock was set back, who was seen later is seen now.
"""

from __future__ import annotations

from collections.abc import Callable

from server.commands.streams.groups import group_steps
from server.commands.streams.reading.active_consumer import AGAIN
from server.commands.streams.reading.waiting_readers import waiting_at
from server.parts.due_keys import DueKeys
from server.parts.state import ServerState
from storage.keyspace.keyspace import Keyspace
from storage.side_data import group_policy
from storage.side_data.group_policy import GROUP_POLICY, GroupPolicy
from storage.stream.consumer_group import Consumer, ConsumerGroup
from storage.stream.stream import Stream
from storage.stream.stream_id import MAX, ZERO

SLICE_S = 0.001
LONGEST_MS = 10_000  # between two rounds over all: a key that was renamed may have been left out
MOST = 1000  # streams of a database that another round goes over
BATCH = 100  # entries that are released between two looks at the clock
NEVER = 2**62  # unix ms


class Round:
    """A group whose consumers are looked at: those *left*; *waiting* are those that wait."""

    __slots__ = ("db", "key", "left", "look_at_ms", "name", "waiting")

    def __init__(
        self, db: Keyspace, key: bytes, name: bytes, waiting: set[tuple[bytes, bytes]]
    ) -> None:
        self.db = db
        self.key = key
        self.name = name
        self.waiting = waiting
        self.left: list[bytes] | None = None  # it has not begun yet
        self.look_at_ms = NEVER


class IdleConsumers:
    """Goes over the groups of *state* that have a policy. *monotonic_s* is the system's clock."""

    def __init__(self, state: ServerState, monotonic_s: Callable[[], float]) -> None:
        self._state = state
        self._monotonic_s = monotonic_s
        self._left: list[tuple[Keyspace, bytes]] = []  # of this round
        self._groups: list[Round] = []  # of the key that is looked at
        self._until_s = 0.0
        self._due = [DueKeys() for _ in state.databases]  # of each: when one may be silent
        self._begun_ms = 0  # when the last round over all has begun
        self._timeouts_set = 0  # as group_policy.py had counted them when it has begun

    @property
    def is_done(self) -> bool:
        """Whether all groups have been looked at."""
        return not self._left and not self._groups

    def begin(self) -> None:
        """Begin a round, unless the last one is not over, or nobody can be silent yet.

        O(streams of which a consumer may be silent); each LONGEST_MS O(keys).
        """
        timeouts_set, now_ms = group_policy.timeouts_set(), self._now_ms
        if not timeouts_set or not self.is_done:
            return
        is_recent = self._begun_ms <= now_ms < self._begun_ms + LONGEST_MS
        if timeouts_set == self._timeouts_set and is_recent:
            for db, due in zip(self._state.databases, self._due, strict=True):
                self._left += [(db, key) for key in due.take_due(now_ms, MOST)]
            return
        self._timeouts_set = timeouts_set
        self._begun_ms = now_ms
        for due in self._due:
            due.clear()
        self._left = [(db, key) for db in self._state.databases for key in db.side]

    def run(self) -> None:
        """Look at groups for a slice of time, at least at one consumer."""
        if self.is_done or self._state.restrictions.in_force:
            return
        self._until_s = self._monotonic_s() + SLICE_S
        while not self.is_done:
            if not self._groups:
                self._groups = self._due_groups(*self._left.pop())
            elif self._look_on(self._groups[-1]):
                self._groups.pop()
            if self._is_time_up():
                break
        if self._state.propagation.ops:
            self._state.propagation.deliver()

    def _is_time_up(self) -> bool:
        return self._monotonic_s() > self._until_s

    @property
    def _now_ms(self) -> int:
        now_ms: int = self._state.events.clock.now_ms
        return now_ms

    def _due_groups(self, db: Keyspace, key: bytes) -> list[Round]:
        """The groups of the stream at *key* of which a consumer may be silent."""
        side, now_ms = db.side.get(key), self._now_ms
        due = []
        for name, policy in [] if side is None else side.of_kind(GROUP_POLICY):
            if not policy.consumer_timeout_ms:
                continue
            if now_ms < policy.look_at_ms <= now_ms + policy.consumer_timeout_ms:
                self._due[db.index].put_first(key, policy.look_at_ms)
            else:
                due.append(name or b"")
        waiting = waiting_at(self._state.blocking, db.index, key) if due else set()
        return [Round(db, key, name, waiting) for name in due]

    def _look_on(self, at: Round) -> bool:
        """Look at consumers of a group until time is up; whether that was all."""
        side, stream = at.db.side.get(at.key), at.db.peek(at.key)
        policy = None if side is None else side.get(GROUP_POLICY, at.name)
        group = stream.find_group(at.name) if isinstance(stream, Stream) else None
        if policy is None or group is None or not policy.consumer_timeout_ms:
            return True
        if at.left is None:
            at.left = list(group.consumers)[::-1]  # the first one is taken first
            at.look_at_ms = self._now_ms + policy.consumer_timeout_ms
        while at.left:
            consumer = group.find_consumer(at.left[-1])
            if consumer is not None:
                due_ms = self._look(at, group, consumer, policy)
                if due_ms <= self._now_ms:
                    if not self._delete(at, group, consumer):
                        return False
                    policy.silent.pop(consumer.name, None)
                else:
                    at.look_at_ms = min(at.look_at_ms, due_ms)
            at.left.pop()
            if self._is_time_up():
                break
        if at.left:
            return False
        policy.look_at_ms = at.look_at_ms
        self._due[at.db.index].put_first(at.key, at.look_at_ms)
        return True

    def _look(
        self, at: Round, group: ConsumerGroup, consumer: Consumer, policy: GroupPolicy
    ) -> int:
        """When *consumer* is to be looked at again; it is to be deleted if that is now."""
        now_ms = self._now_ms
        patterns = self._state.blocking.patterns
        read_ms = patterns.read_ms(at.db.index, at.key, at.name, consumer.name, now_ms)
        consumer.seen_time = max(consumer.seen_time, read_ms)  # while the stream rested
        if (at.name, consumer.name) in at.waiting or consumer.seen_time > now_ms:
            consumer.seen_time = now_ms
        due_ms = consumer.seen_time + policy.consumer_timeout_ms
        silent_since = policy.silent.get(consumer.name, now_ms)
        if due_ms > now_ms or silent_since < consumer.seen_time:
            policy.silent.pop(consumer.name, None)
            return max(due_ms, now_ms + 1)
        silent_since = policy.silent[consumer.name] = min(silent_since, now_ms)
        return silent_since + max(1, policy.consumer_timeout_ms // AGAIN)

    def _delete(self, at: Round, group: ConsumerGroup, consumer: Consumer) -> bool:
        """Release what *consumer* has, and delete it. False if time was up before."""
        propagation, db, key, name = self._state.propagation, at.db, at.key, at.name
        while len(consumer.pel):
            found = group.pending_range(ZERO, MAX, BATCH, consumer)
            for pending in found:
                group.release(pending)
            for words in group_steps.released_words(key, name, found):
                propagation.add(db.index, words)
            db.group_changed(key, None, changes=len(found))
            self._state.blocking.delivered(db.index, key)
            if len(consumer.pel) and self._is_time_up():
                return False
        group.delete_consumer(consumer.name)
        propagation.add(db.index, [b"XGROUP", b"DELCONSUMER", key, name, consumer.name])
        db.group_changed(key, b"xgroup-delconsumer", changes=1)
        self._state.blocking.key_ready(db.index, key)  # it may have been the active one
        return True
