"""Facts of clients that wait, and of what they wait for."""

from __future__ import annotations

from server.observe.fact import COUNT, Facts, gauge

BLOCKED = Facts[int](
    gauge("blocked_clients", COUNT, lambda blocked: blocked,
          "Clients that wait: for keys, for replicas or the disk, or for the end of a pause"),
)  # fmt: skip

KEYS = Facts[tuple[int, int]](
    gauge("total_blocking_keys", COUNT, lambda keys: keys[0], "Keys that clients wait for"),
    gauge("total_blocking_keys_on_nokey", COUNT, lambda keys: keys[1],
          "Keys that clients wait for, and whose removal ends a wait, too"),
)  # fmt: skip
