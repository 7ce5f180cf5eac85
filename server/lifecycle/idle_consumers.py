"""Consumers that are silent for CONSUMERTIMEOUT are deleted; what they had goes to their group.

    1. Each tick goes over the groups of which a consumer may be silent for so long by now.
    2. A silent consumer that waits in an XREADGROUP is not silent: it is seen now.
    3. One that does not is looked at again after a quarter of the time: between two waits there is
       always a moment without one. Is it silent still, its entries are released: they are the next
       that the group gives, with their counts. Then it is deleted.

After SLICE_S the rest waits for the next tick. It is logged as XNACK and XGROUP DELCONSUMER; a
replica deletes no consumer by itself. While writes are refused or held back, all waits.
"""

from __future__ import annotations

from collections.abc import Callable

from server.commands.streams import group_steps
from server.commands.streams.waiting_readers import waiting_at
from server.parts.state import ServerState
from storage.keyspace.keyspace import Keyspace
from storage.side_data import group_policy
from storage.side_data.group_policy import GROUP_POLICY, GroupPolicy
from storage.stream.consumer_group import Consumer, ConsumerGroup
from storage.stream.stream import Stream
from storage.stream.stream_id import MAX, ZERO

SLICE_S = 0.001
BATCH = 100  # entries that are released between two looks at the clock
AGAIN = 4  # the part of CONSUMERTIMEOUT after which a silence is looked at again


class IdleConsumers:
    """Goes over the groups of *state* that have a policy. *monotonic_s* is the system's clock."""

    def __init__(self, state: ServerState, monotonic_s: Callable[[], float]) -> None:
        self._state = state
        self._monotonic_s = monotonic_s
        self._left: list[tuple[Keyspace, bytes]] = []  # of this round
        self._until_s = 0.0

    def run(self) -> None:
        """Look at groups for a slice of time: all, or those that were left by the last one."""
        if not group_policy.any_timeouts() or self._state.restrictions.in_force:
            return
        self._until_s = self._monotonic_s() + SLICE_S
        if not self._left:
            self._left = [(db, key) for db in self._state.databases for key in db.side]
        while self._left and self._monotonic_s() <= self._until_s:
            db, key = self._left.pop()
            side = db.side.get(key)
            for name, policy in [] if side is None else side.of_kind(GROUP_POLICY):
                if policy.consumer_timeout_ms and self._now_ms >= policy.look_at_ms:
                    self._look(db, key, name or b"", policy)
            if self._state.propagation.ops:
                self._state.propagation.deliver()

    @property
    def _now_ms(self) -> int:
        now_ms: int = self._state.events.clock.now_ms
        return now_ms

    def _look(self, db: Keyspace, key: bytes, name: bytes, policy: GroupPolicy) -> None:
        """Delete the silent consumers of a group, and note when it is to be looked at again."""
        stream, now_ms = db.peek(key), self._now_ms
        group = stream.find_group(name) if isinstance(stream, Stream) else None
        if group is None:
            return
        waiting = waiting_at(self._state.blocking, db.index, key, now_ms)
        policy.look_at_ms = now_ms + policy.consumer_timeout_ms
        for consumer in list(group.consumers.values()):
            if (name, consumer.name) in waiting:
                consumer.seen_time = now_ms
            silent_since = policy.silent.get(consumer.name)
            due_ms = consumer.seen_time + policy.consumer_timeout_ms
            if due_ms > now_ms or (silent_since or now_ms) < consumer.seen_time:
                policy.silent.pop(consumer.name, None)
            else:
                silent_since = policy.silent.setdefault(consumer.name, now_ms)
                due_ms = silent_since + max(1, policy.consumer_timeout_ms // AGAIN)
                if due_ms <= now_ms:
                    due_ms = self._delete(db, key, name, group, consumer, policy)
            policy.look_at_ms = min(policy.look_at_ms, due_ms)

    def _delete(
        self,
        db: Keyspace,
        key: bytes,
        name: bytes,
        group: ConsumerGroup,
        consumer: Consumer,
        policy: GroupPolicy,
    ) -> int:
        """Release what *consumer* has, and delete it; return when the group is to be looked at."""
        propagation = self._state.propagation
        while len(consumer.pel) and self._monotonic_s() <= self._until_s:
            found = group.pending_range(ZERO, MAX, BATCH, consumer)
            for pending in found:
                group.release(pending)
            for words in group_steps.released_words(key, name, found):
                propagation.add(db.index, words)
            db.group_changed(key, None, changes=len(found))
        self._state.blocking.delivered(db.index, key)
        if len(consumer.pel):
            return self._now_ms
        group.delete_consumer(consumer.name)
        policy.silent.pop(consumer.name, None)
        propagation.add(db.index, [b"XGROUP", b"DELCONSUMER", key, name, consumer.name])
        db.group_changed(key, b"xgroup-delconsumer", changes=1)
        return self._now_ms + policy.consumer_timeout_ms
