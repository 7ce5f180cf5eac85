"""Facts of the keys: how many there are, how many were found, how many have expired."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from server.observe.fact import COUNT, MILLISECONDS, Facts, Family, counter, gauge
from storage.keyspace.key_events import KeyEvents
from storage.keyspace.keyspace import Keyspace

TTL_SAMPLE = 64  # keys in the sample for avg_ttl

EXPIRED = Facts[KeyEvents](
    counter("expired_subkeys", COUNT, lambda keys: keys.expired_fields,
            "Fields of hashes that have expired"),
    counter("expired_keys", COUNT, lambda keys: keys.expired, "Keys that have expired"),
)  # fmt: skip

FOUND = Facts[KeyEvents](
    counter("keyspace_hits", COUNT, lambda keys: keys.hits, "Reads of keys that were there"),
    counter("keyspace_misses", COUNT, lambda keys: keys.misses, "Reads of keys that were missing"),
)  # fmt: skip

FREED = Facts[KeyEvents](
    gauge("lazyfree_pending_objects", COUNT, lambda keys: len(keys.freeing.doomed),
          "Schedules of removed keys that are freed in slices; all else is freed at once"),
    counter("lazyfreed_objects", COUNT, lambda keys: keys.freeing.count,
            "Large values of which Redis would have freed the memory in another thread"),
)  # fmt: skip


class Filling(NamedTuple):
    """What a database holds."""

    keys: int
    expiring: int
    mean_ttl_ms: int
    hashes: int


DATABASES = Family[Filling](
    "db", "db",
    gauge("keys", COUNT, lambda db: db.keys, "Keys"),
    gauge("expires", COUNT, lambda db: db.expiring, "Keys that will expire"),
    gauge("avg_ttl", MILLISECONDS, lambda db: db.mean_ttl_ms,
          "How long keys that will expire still have, on average of a random sample"),
    gauge("subexpiry", COUNT, lambda db: db.hashes, "Hashes with fields that will expire"),
)  # fmt: skip


def filled(databases: Sequence[Keyspace], now_ms: int) -> Iterator[tuple[str, Filling]]:
    """What is in those of *databases* that are not empty, each with its number."""
    for db in databases:
        if len(db):
            sample = db.expiring.sample(db.events.chance, TTL_SAMPLE)
            left_ms = [max(0, db.expiry(key) - now_ms) for key in sample]
            mean_ttl_ms = sum(left_ms) // len(left_ms) if left_ms else 0
            expiring, hashes = len(db.expiring), len(db.field_expiries)
            yield str(db.index), Filling(len(db), expiring, mean_ttl_ms, hashes)
