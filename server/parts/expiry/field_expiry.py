"""Fields of hashes that have expired are removed here, for commands and for the active cycle."""

from __future__ import annotations

from collections.abc import Sequence

from storage.hashes.hash import Hash
from storage.keyspace.keyspace import Keyspace


def expire_fields(
    db: Keyspace, key: bytes, value: Hash, fields: Sequence[bytes], keeps_empty: bool = False
) -> None:
    """Remove *fields*, which have expired, of *value*, the hash at *key*; and an empty hash, unless
    it *keeps_empty*: then fields will be set at once.

    It is logged as HDEL, which does the same. It counts as no change of data, as with keys.
    """
    for field in fields:
        value.remove(field)
    events = db.events
    events.expired_fields += len(fields)
    events.fields_gone(db.index, key, fields)
    events.changed(db.index, key, b"hexpired", True)
    if events.tells_fields:
        events.fields_changed(db.index, key, b"hexpired", fields)
    if len(value) or keeps_empty:
        db.expire_fields_at(key, value.next_expiry())
    else:
        db.remove(key)
        events.changed(db.index, key, b"del", True)
