"""DEBUG DIGEST: one short number for a value, or for all data. Equal data have equal digests.

    value      mix the type's number; mix its parts (ValueType.digest_parts), in order; add its
               members (ValueType.digest_members); if the key has an expiry, add "!!expire!!";
               if it has side data, add their record
    data       for each database that has keys: mix its number, then add for each of its keys
                   (mix the key, then the value as above)

storage/digest_sums.py says what mix and add are. Numbers are mixed as 32 bits, big-endian. As in
Redis, the time at which a key expires has no influence.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from storage import types
from storage.digest_sums import NOTHING, added, mixed
from storage.keyspace.expiring_keys import NO_EXPIRY
from storage.keyspace.keyspace import Keyspace

EXPIRES = b"!!expire!!"


def of_data(databases: Iterable[Keyspace]) -> bytes:
    """The digest of all keys, expired ones included. O(size)."""
    digest = NOTHING
    for db in databases:
        if not len(db):
            continue
        digest = mixed(digest, _number(db.index))
        for key, value in db.table.items():
            digest = added(digest, _of_value(mixed(NOTHING, key), value, db, key))
    return digest


def of_key(db: Keyspace, key: bytes) -> bytes:
    """The digest of the value at *key*, expired or not; NOTHING if there is no such key."""
    value = db.table.get(key)
    return NOTHING if value is None else _of_value(NOTHING, value, db, key)


def _of_value(digest: bytes, value: Any, db: Keyspace, key: bytes) -> bytes:
    kind = types.of(value)
    digest = mixed(digest, _number(kind.number))
    for part in kind.digest_parts(value):
        digest = mixed(digest, part)
    for member in kind.digest_members(value):
        digest = added(digest, member)
    if db.expiry(key) != NO_EXPIRY:
        digest = added(digest, EXPIRES)
    side = db.side.get(key)
    return digest if side is None else added(digest, side.digest())


def _number(number: int) -> bytes:
    return number.to_bytes(4, "big")
