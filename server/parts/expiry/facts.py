"""Facts of the keys that a replica's own clients let expire."""

from __future__ import annotations

from server.observe.fact import COUNT, Facts, gauge
from server.parts.expiry.replica_expiry import ReplicaExpiry

KEYS = Facts[ReplicaExpiry](
    gauge("slave_expires_tracked_keys", COUNT, len,
          "Keys of a writable replica to which its clients have given a time"),
)  # fmt: skip
