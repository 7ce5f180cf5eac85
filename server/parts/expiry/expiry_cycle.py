"""The active expiry cycle: removes keys that have expired and that no command looks up.

    1. Each database that has expiring keys is walked in hash order, from where the last cycle
       stopped, a page at a time.
    2. The next database follows when less than a tenth of the last page had expired.
    3. The cycle ends when all databases are done, or when its share of time is used up.

Keys whose values have fields that expire are walked in this way, too: the fields of one value are
removed some at a time.

The share is a quarter of the time between two ticks of cron, as in redis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from server.config.parameters import Config
from server.observe.latency_events import LatencyEvents
from server.observe.stats import Stats
from server.parts.expiry.field_expiry import expire_fields
from storage.keyspace.expiring_keys import NO_EXPIRY
from storage.keyspace.key_events import KeyEvents
from storage.keyspace.keyspace import Keyspace

PAGE = 20  # keys looked at between two looks at the clock
FIELDS = 100  # of a value, that are removed between two looks at the clock
STALE_SHARE = 0.05  # of what a cycle has found, in the mean of all of them; as in redis
WORTHWHILE = 10  # percent of a page that must have been due for the next page to be looked at
SHARE = 0.25


class ExpiryCycle:
    """Removes expired keys; remembers for each database where the last cycle stopped."""

    def __init__(
        self,
        databases: Sequence[Keyspace],
        events: KeyEvents,
        config: Config,
        stats: Stats,
        latency_events: LatencyEvents,
        monotonic_s: Callable[[], float],
    ) -> None:
        self._databases = databases
        self._clock = events.clock
        self._config = config
        self._stats = stats
        self._latency_events = latency_events
        self._monotonic_s = monotonic_s
        self._cursors = [0] * len(databases)
        self._field_cursors = [0] * len(databases)
        self._next = 0
        self._looked_at = 0  # keys, in this cycle
        self._expired = 0

    def run(self) -> None:
        """One cycle."""
        started = self._monotonic_s()
        deadline = started + SHARE / self._config.hz
        self._looked_at = self._expired = 0
        databases = self._databases
        for _ in databases:
            db = databases[self._next]
            if not self._run_in(db, deadline) or not self._run_on_fields_in(db, deadline):
                self._stats.expire_time_cap_reached += 1
                break
            self._next = (self._next + 1) % len(databases)
        took_s = self._monotonic_s() - started
        self._stats.expire_cycle_ms += took_s * 1000
        self._count()
        self._took(b"expire-cycle", took_s)

    def _count(self) -> None:
        """Let what this cycle has found have its share of the mean."""
        stats = self._stats
        stale = 100 * self._expired / self._looked_at if self._looked_at else 0.0
        stats.stale_percent += (stale - stats.stale_percent) * STALE_SHARE
        stats.expired_in_cycles += self._expired

    def _run_in(self, db: Keyspace, deadline: float) -> bool:
        """Expire keys of *db*; False when the time is used up."""
        page = PAGE * self._config.active_expire_effort
        while len(db.expiring):
            cursor, keys = db.expiring.scan(self._cursors[db.index], page)
            self._cursors[db.index] = cursor
            due = [key for key in keys if db.expiry(key) < self._clock.now_ms]
            for key in due:
                db.expire_now(key)
            self._looked_at += len(keys)
            self._expired += len(due)
            if self._monotonic_s() > deadline:
                return False
            if len(due) * 100 <= len(keys) * WORTHWHILE:
                return True
        return True

    def _took(self, event: bytes, seconds: float) -> None:
        now_s = self._clock.now_ms // 1000
        self._latency_events.add_if_long(event, int(seconds * 1e9), now_s)

    def _run_on_fields_in(self, db: Keyspace, deadline: float) -> bool:
        """Expire fields of values in *db*; False when the time is used up."""
        page = PAGE * self._config.active_expire_effort
        now_ms = self._clock.now_ms
        while len(db.field_expiries):
            cursor, keys = db.field_expiries.scan(self._field_cursors[db.index], page)
            due = [key for key in keys if db.field_expiries.get(key) < now_ms]
            for key in due:
                if not self._run_on_fields_of(db, key, deadline):
                    return False
            self._field_cursors[db.index] = cursor
            if self._monotonic_s() > deadline:
                return False
            if len(due) * 100 <= len(keys) * WORTHWHILE:
                return True
        return True

    def _run_on_fields_of(self, db: Keyspace, key: bytes, deadline: float) -> bool:
        """Expire all fields that are due of the value at *key*; False when the time is used up."""
        value = db.table.get(key)
        now_ms = self._clock.now_ms
        while NO_EXPIRY != db.field_expiries.get(key, NO_EXPIRY) < now_ms:
            due = value.timed.due(now_ms, FIELDS)
            expire_fields(db, key, value, due)
            self._stats.expired_fields_in_cycles += len(due)
            if self._monotonic_s() > deadline:
                return False
        return True
