"""What the parameters say of the removal of keys: which values are freed lazily, what is measured.

The latency events expire-del and eviction-del are how long the removal of one key took.
"""

from __future__ import annotations

from collections.abc import Callable

from server.config.parameters import Config
from server.observe.latency_events import LatencyEvents
from server.observe.part import Part
from server.process import ticks
from storage.keyspace.key_events import KeyEvents


class KeyRemovals(Part):
    """Tells *events* what to count and to measure, and *latency_events* what took long."""

    __slots__ = ("_began_ns", "_events", "_latency_events", "_now_ns")

    def __init__(
        self,
        events: KeyEvents,
        latency_events: LatencyEvents,
        now_ns: Callable[[], int] = ticks.now_ns,
    ) -> None:
        self._events = events
        self._latency_events = latency_events
        self._now_ns = now_ns
        self._began_ns = 0

    def configured(self, config: Config) -> None:
        self._events.measures_removals = config.latency_monitor_threshold > 0
        freeing = self._events.freeing
        freeing.of_expired = config.lazyfree_lazy_expire
        freeing.of_evicted = config.lazyfree_lazy_eviction
        freeing.of_replaced = config.lazyfree_lazy_server_del

    def statistics_reset(self) -> None:
        self._events.freeing.count = 0

    def began(self) -> None:
        """A key is about to be removed."""
        self._began_ns = self._now_ns()

    def ended(self, event: bytes) -> None:
        """It has been; *event* is the name of its removal in LATENCY."""
        took_ns = self._now_ns() - self._began_ns
        self._latency_events.add_if_long(event, took_ns, self._events.clock.now_ms // 1000)
