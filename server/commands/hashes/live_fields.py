"""What commands see of a hash of which some fields expire.

A field is there until the moment it expires. One that has expired is removed when a command names
it; commands on all fields leave it out, and HLEN counts it until it is removed. It is still there
for what is replayed: only the AOF removes it.
"""

from __future__ import annotations

from collections.abc import Iterable

from server.dispatch.call import Call
from server.parts.expiry.field_expiry import expire_fields
from storage.hashes.hash import NO_FIELDS, Hash

EVERY = 2**62  # as the greatest number of fields: all of them


def dead_fields(call: Call, value: Hash) -> frozenset[bytes]:
    """The fields of *value* that have expired, which are not to be seen. O(their number)."""
    if value.timed is None or _keeps_expired(call):
        return NO_FIELDS
    return frozenset(value.timed.due(call.now_ms, EVERY))


def expire(
    call: Call, key: bytes, value: Hash, fields: Iterable[bytes], keeps_empty: bool = False
) -> frozenset[bytes]:
    """Those of *fields* that have expired; they are removed now, and the hash, if it is empty and
    not to be kept so.

    While writes are paused, and this is a read, they stay.
    """
    timed = value.timed
    if timed is None or _keeps_expired(call):
        return NO_FIELDS
    named = dict.fromkeys(fields)
    dead = [field for field in named if 0 <= timed.expiry(field) < call.now_ms]
    if dead and not call.db.events.lookup.hides_expired:
        expire_fields(call.db, key, value, dead, keeps_empty)
    return frozenset(dead)


def has(call: Call, value: Hash | None, field: bytes) -> bool:
    """Whether *field* exists, and has not expired."""
    if value is None or not value.has(field):
        return False
    return not 0 <= value.expiry(field) < call.now_ms or _keeps_expired(call)


def find_hash(call: Call, key: bytes, fields: Iterable[bytes]) -> Hash | None:
    """The hash at *key*, to be changed; those of *fields* that have expired are removed before."""
    value: Hash | None = call.db.find(key, Hash)
    if value is not None and value.timed is not None:
        expire(call, key, value, fields)
        return value if len(value) else None
    return value


def _keeps_expired(call: Call) -> bool:
    return call.is_replayed() or call.db.events.lookup.keeps_expired
