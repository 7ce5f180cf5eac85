"""Facts of what has made room: keys and clients."""

from __future__ import annotations

from server.observe.fact import COUNT, MILLISECONDS, Facts, counter, gauge
from server.parts.eviction.client_eviction import ClientEviction
from server.parts.eviction.key_eviction import KeyEviction

KEYS = Facts[KeyEviction](
    counter("evicted_keys", COUNT, lambda eviction: eviction.evicted,
            "Keys that were removed since more was in use than maxmemory allows"),
    counter("total_eviction_exceeded_time", MILLISECONDS,
            lambda eviction: eviction.all_exceeded_ms,
            "How long more was in use than maxmemory allows"),
    gauge("current_eviction_exceeded_time", MILLISECONDS, lambda eviction: eviction.exceeded_ms,
          "How long more has been in use than maxmemory allows; 0: no more is"),
)  # fmt: skip

CLIENTS = Facts[ClientEviction](
    counter("evicted_clients", COUNT, lambda eviction: eviction.evicted,
            "Clients that were disconnected for maxmemory-clients"),
)  # fmt: skip
