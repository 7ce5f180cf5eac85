"""The sweep: removes all keys and fields whose time has come, wherever they are.

The active expiry cycle may take long to find them all; after a jump of the clock none may be left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from server.parts.expiry.field_expiry import expire_fields
from storage.keyspace.expiring_keys import NO_EXPIRY
from storage.keyspace.keyspace import Keyspace
from storage.keyspace.settings import Clock

PAGE = 100  # keys looked at, or fields removed, in a slice


def sweep(databases: Sequence[Keyspace], clock: Clock) -> Iterator[None]:
    """Remove what is due by *clock*, yielding after each page. O(keys that expire).

    Due is also what commands would still find for this one ms. So a key that was set to live for
    ten seconds is gone after a jump of ten seconds within that ms.
    """
    for db in databases:
        yield from _sweep_keys(db, clock)
        yield from _sweep_fields(db, clock)


def _sweep_keys(db: Keyspace, clock: Clock) -> Iterator[None]:
    cursor, is_done = 0, not len(db.expiring)
    while not is_done:
        cursor, keys = db.expiring.scan(cursor, PAGE)
        for key in keys:
            if NO_EXPIRY != db.expiry(key) <= clock.now_ms:
                db.expire_now(key)
        yield
        is_done = cursor == 0


def _sweep_fields(db: Keyspace, clock: Clock) -> Iterator[None]:
    cursor, is_done = 0, not len(db.field_expiries)
    while not is_done:
        cursor, keys = db.field_expiries.scan(cursor, PAGE)
        for key in keys:
            yield from _sweep_fields_of(db, key, clock)
        yield
        is_done = cursor == 0


def _sweep_fields_of(db: Keyspace, key: bytes, clock: Clock) -> Iterator[None]:
    """Between slices another command may have changed the value, or removed it."""
    while NO_EXPIRY != db.field_expiries.get(key, NO_EXPIRY) <= clock.now_ms:
        value = db.table.get(key)
        expire_fields(db, key, value, value.timed.due(clock.now_ms + 1, PAGE))
        yield
