"""Facts of client-side caching."""

from __future__ import annotations

from server.observe.fact import COUNT, Facts, gauge
from server.parts.tracking.tracking import Tracking

CLIENTS = Facts[Tracking](
    gauge("tracking_clients", COUNT, lambda tracking: tracking.clients,
          "Clients with client-side caching"),
)  # fmt: skip

KEYS = Facts[Tracking](
    gauge("tracking_total_keys", COUNT, lambda tracking: len(tracking.table),
          "Keys whose readers are known"),
    gauge("tracking_total_items", COUNT, lambda tracking: tracking.table.items,
          "The readers of the keys whose readers are known, together"),
    gauge("tracking_total_prefixes", COUNT, lambda tracking: len(tracking.broadcasts),
          "Prefixes of keys whose changes are broadcast"),
)  # fmt: skip
