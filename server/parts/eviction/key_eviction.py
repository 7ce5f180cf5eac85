"""maxmemory: keys are evicted until no more memory is in use than it allows.

    a client's command comes   make_room()   True: it may run; False: it must not add data
    16 keys are evicted        is it enough for now? (maxmemory-eviction-tenacity)
    it took too long           the command runs; the timers have the rest done later, bit by bit

Each evicted key is one transaction of the AOF, and its deletion wakes and warns whom a DEL would.
No room is made while data are loaded, nor while CLIENT PAUSE holds writes back.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from server.config.parameters import Config
from server.observe.latency_events import LatencyEvents
from server.observe.memory import Memory
from server.observe.part import Part
from server.parts.eviction.eviction_policy import ANY, policy_named
from server.parts.propagation.propagation import Propagation
from server.process import ticks
from server.process.faults import ServerFault
from server.process.timers import NoTimers, Timers
from storage.keyspace.eviction_pool import EvictionPool
from storage.keyspace.eviction_rank import BY_FREQUENCY, BY_IDLE_TIME
from storage.keyspace.key_events import KeyEvents
from storage.keyspace.keyspace import Keyspace

AT_ONCE = 16  # keys that are evicted between two looks at the clock
LONG_NS = 1_000_000  # no threshold of LATENCY is shorter
NO_TIME_LIMIT_NS = 2**62
UNRANKED = ANY

_log = logging.getLogger("penstock")


class KeyEviction(Part):
    """Evicts keys of *databases*. *timers* see to it that more is done later.

    Restrictions say when it *rests*, and whether the keys are a primary's (*is_replica*).
    """

    __slots__ = (
        "_chance",
        "_databases",
        "_events",
        "_exceeded_ns",
        "_exceeded_since_ns",
        "_is_left_to_primary",
        "_is_unfinished",
        "_last_random",
        "_latency_events",
        "_limit",
        "_memory",
        "_policy_name",
        "_propagation",
        "_rank",
        "_removal",
        "_samples",
        "_spares_all",
        "_time_limit_ns",
        "_volatile",
        "evicted",
        "is_out_of_memory",
        "is_replica",
        "pool",
        "rests",
        "timers",
    )

    def __init__(
        self,
        databases: list[Keyspace],
        events: KeyEvents,
        memory: Memory,
        propagation: Propagation,
        latency_events: LatencyEvents,
    ) -> None:
        self._latency_events = latency_events
        self._databases = databases
        self._events = events
        self._memory = memory
        self._propagation = propagation
        self._chance = events.chance
        self.pool = EvictionPool(events.usage, self._chance)
        self._limit = 0
        self._is_left_to_primary = True  # while the server is a replica
        self.is_replica = False
        self.rests = False
        self._policy_name = ""
        self._last_random = 0  # the database that a key was drawn from last
        self._is_unfinished = False
        self.timers: Timers = NoTimers()
        self.is_out_of_memory = False  # what make_room() has found last
        self.evicted = 0
        self._exceeded_since_ns = 0  # by the monotonic clock; 0: maxmemory is kept
        self._exceeded_ns = 0  # before that

    # ------------------------------------------------------------------ making room

    def make_room(self) -> bool:
        """Evict keys until maxmemory is kept. False if it is exceeded and no key can be evicted.

        O(keys that are evicted). Raises ServerFault.
        """
        if self._memory.exceeded():
            return self._make_room()
        if self._exceeded_since_ns:
            self._is_kept()
        self.is_out_of_memory = False
        return True

    def _make_room(self) -> bool:
        if self.rests or (self.is_replica and self._is_left_to_primary):
            self.is_out_of_memory = False
            return True
        try:
            self.is_out_of_memory = not self._evict_enough()
            if self._propagation.is_on:
                self._propagation.deliver_each()
        except Exception as error:
            raise ServerFault("an eviction was left unfinished") from error
        if self.is_out_of_memory or self._is_unfinished:
            if not self._exceeded_since_ns:
                self._exceeded_since_ns = ticks.now_ns()
        elif self._exceeded_since_ns:
            self._is_kept()
        return not self.is_out_of_memory

    def resume(self) -> None:
        """Resume a suspended eviction."""
        self._is_unfinished = False
        self.make_room()

    def _evict_enough(self) -> bool:
        """Evict until maxmemory is kept, or time is up. False if there is nothing to evict."""
        started_ns = ticks.now_ns()
        succeeds = self._evict_since(started_ns)
        took_ns = ticks.now_ns() - started_ns
        if took_ns >= LONG_NS:
            now_s = self._events.clock.now_ms // 1000
            self._latency_events.add_if_long(b"eviction-cycle", took_ns, now_s)
        return succeeds

    def _evict_since(self, started_ns: int) -> bool:
        evicted = 0
        while self._memory.exceeded():
            if not self._evict_one():
                return False
            evicted += 1
            if evicted % AT_ONCE == 0 and ticks.now_ns() - started_ns > self._time_limit_ns:
                self._resume_soon()
                return True
        return True

    def _resume_soon(self) -> None:
        if not self._is_unfinished:
            self._is_unfinished = True
            self.timers.evict_soon()

    # ------------------------------------------------------------------ one key

    def _evict_one(self) -> bool:
        """Evict the key that the policy gives up first; False if there is none."""
        if self._spares_all:
            return False
        if self._rank == UNRANKED:
            return self._evict_any()
        while self._sample():
            candidate = self.pool.take()
            if candidate is not None:
                self._evict(candidate.database, candidate.key)
                return True
        return False

    def _sample(self) -> bool:
        """Let some keys of each database enter the pool; False if there are none."""
        found = False
        for database in self._databases:
            # Most are empty: their fields are looked at, since each eviction asks all of them.
            keys = database._expires if self._volatile else database._values  # noqa: SLF001
            if keys.used:
                self.pool.sample(database, self._volatile, self._samples)
                found = True
        return found

    def _evict_any(self) -> bool:
        """Evict any key of the next database that has some."""
        for _ in range(len(self._databases)):
            self._last_random = (self._last_random + 1) % len(self._databases)
            database = self._databases[self._last_random]
            keys = database.keys_to_evict(self._volatile)
            if keys.used:
                self._evict(database, keys.key_at(keys.random_place(self._chance)))
                return True
        return False

    def _evict(self, database: Keyspace, key: bytes) -> None:
        database.evict(key)
        self.evicted += 1
        if self._propagation.is_on:
            self._propagation.add(database.index, [self._removal, key])

    # ------------------------------------------------------------------ what a part is told

    def configured(self, config: Config) -> None:
        usage = self._events.usage
        usage.log_factor = config.lfu_log_factor
        usage.decay_minutes = config.lfu_decay_time
        self._is_left_to_primary = config.replica_ignore_maxmemory
        self._samples = config.maxmemory_samples
        self._time_limit_ns = time_limit_ns(config.maxmemory_eviction_tenacity)
        self._removal = b"UNLINK" if config.lazyfree_lazy_eviction else b"DEL"
        if config.maxmemory_policy != self._policy_name:
            self._policy_name = config.maxmemory_policy
            self._follow_policy()
        if config.maxmemory != self._limit:
            self._limit = config.maxmemory
            self._follow_limit()

    def _follow_policy(self) -> None:
        policy = policy_named(self._policy_name)
        self._spares_all = policy is None
        if policy is None:
            self._volatile, self._rank, self._events.lookup.by_writes = False, UNRANKED, False
        else:
            self._volatile, self._rank, self._events.lookup.by_writes = policy
        self.pool.rank_by(self._rank)
        self._events.usage.counts = self._rank == BY_FREQUENCY
        self._events.usage.is_saved = self._rank in (BY_FREQUENCY, BY_IDLE_TIME)

    def _follow_limit(self) -> None:
        if self._memory.exceeded():
            _log.warning(
                "WARNING: the new maxmemory value (%d) is smaller than the memory in use. Keys will"
                " be evicted, or writes refused, as maxmemory-policy has it.",
                self._limit,
            )
            self._resume_soon()
        elif self._exceeded_since_ns:
            self._is_kept()

    def emptying(self, databases: Sequence[Keyspace]) -> None:
        self.pool.clear()

    def statistics_reset(self) -> None:
        self.evicted = 0
        self._exceeded_since_ns = self._exceeded_ns = 0

    @property
    def exceeded_ms(self) -> int:
        """How long more has been in use than maxmemory allows, by now; 0: it is not."""
        since_ns = self._exceeded_since_ns
        return (ticks.now_ns() - since_ns) // 1_000_000 if since_ns else 0

    @property
    def all_exceeded_ms(self) -> int:
        """How long it was and is, since the start or CONFIG RESETSTAT."""
        since_ns = self._exceeded_since_ns
        present_ns = ticks.now_ns() - since_ns if since_ns else 0
        return (self._exceeded_ns + present_ns) // 1_000_000

    def _is_kept(self) -> None:
        """No more memory is in use than maxmemory allows, again."""
        self._exceeded_ns += ticks.now_ns() - self._exceeded_since_ns
        self._exceeded_since_ns = 0


def time_limit_ns(tenacity: int) -> int:
    """How long keys are evicted at a time: up to 0.5 ms by tenacity 10, then 15 % more each."""
    if tenacity >= 100:
        return NO_TIME_LIMIT_NS
    if tenacity <= 10:
        return 50_000 * tenacity
    return int(500_000 * 1.15 ** (tenacity - 10))
