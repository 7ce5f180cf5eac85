"""DEBUG DIGEST: one short number for a value, or for all data. Equal data have equal digests.

    value      mix the type's number; mix its parts (ValueType.digest_parts), in order; if the key
               has an expiry, add "!!expire!!"
    data       for each database that has keys: mix its number, then add for each of its keys
                   (mix the key, then the value as above)

    add(x)     digest ^= SHA-1(x)                     order does not matter
    mix(x)     digest = SHA-1(digest ^ SHA-1(x))      order matters

Numbers are mixed as 32 bits, big-endian. As in Redis, the time at which a key expires has no
influence.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha1
from typing import Any

from storage import types
from storage.keyspace.keyspace import NO_EXPIRY, Keyspace

SIZE = 20  # bytes
NOTHING = bytes(SIZE)  # the digest of no key, and of no data

EXPIRES = b"!!expire!!"


def of_data(databases: Iterable[Keyspace]) -> bytes:
    """The digest of all keys, expired ones included. O(size)."""
    digest = NOTHING
    for db in databases:
        if not len(db):
            continue
        digest = _mixed(digest, _number(db.index))
        for key, value in db.table.items():
            digest = _added(digest, _of_value(_mixed(NOTHING, key), value, db.expiry(key)))
    return digest


def of_key(db: Keyspace, key: bytes) -> bytes:
    """The digest of the value at *key*, expired or not; NOTHING if there is no such key."""
    value = db.table.get(key)
    return NOTHING if value is None else _of_value(NOTHING, value, db.expiry(key))


def _of_value(digest: bytes, value: Any, expiry: int) -> bytes:
    kind = types.of(value)
    digest = _mixed(digest, _number(kind.number))
    for part in kind.digest_parts(value):
        digest = _mixed(digest, part)
    return digest if expiry == NO_EXPIRY else _added(digest, EXPIRES)


def _added(digest: bytes, data: bytes) -> bytes:
    """*digest* with *data* added."""
    both = int.from_bytes(digest, "big") ^ int.from_bytes(sha1(data).digest(), "big")  # noqa: S324
    return both.to_bytes(SIZE, "big")


def _mixed(digest: bytes, data: bytes) -> bytes:
    """*digest* with *data* mixed in."""
    return sha1(_added(digest, data)).digest()  # noqa: S324  (as in Redis; protects nothing)


def _number(number: int) -> bytes:
    return number.to_bytes(4, "big")
