"""The steps that hash commands are made of: set fields, and tell what has changed.

Each step keeps the rules that hash commands share: a hash is made with its first field and deleted
with its last one, and every change is told under the event name of redis.
"""

from __future__ import annotations

from collections.abc import Sequence

from server.dispatch.call import Call
from storage.hashes.hash import Hash
from storage.hashes.value_type import HASH
from storage.keyspace.keyspace import Keyspace
from storage.limits import ListpackLimits


def put(
    call: Call, key: bytes, words: list[bytes], first: int, log: Sequence[bytes] | None = None
) -> int:
    """Set the fields and values ``words[first:]`` of the hash at *key*, created if needed.

    Returns how many of the fields are new. *log*: see Keyspace.changed.
    """
    db = call.db
    value: Hash | None = db.lend(key, Hash)
    limits = call.server.node_limits.hash
    if value is not None:
        added = value.put(words, first, limits)
        db.give_back(key, value)
        if value.timed is not None:
            db.expire_fields_at(key, value.next_expiry())
    else:
        added = _put_new(db, key, words, first, limits)
    db.changed(key, b"hset", changes=(len(words) - first) // 2, log=log)
    if db.events.tells_fields:
        tell_fields(call, key, b"hset", words[first::2])
    return added


def tell_fields(call: Call, key: bytes, event: bytes, fields: Sequence[bytes]) -> None:
    """Tell that *event* has happened to *fields* of the hash at *key*, if anybody asks for that."""
    if call.db.events.tells_fields:
        call.db.events.fields_changed(call.db.index, key, event, fields)


def _put_new(
    db: Keyspace, key: bytes, words: list[bytes], first: int, limits: ListpackLimits
) -> int:
    """Put a hash of these fields and values at *key*; return how many fields it has."""
    text = HASH.packed_words(words, first, limits)
    if text is not None:
        db.add_packed(key, HASH, text)
        return (len(words) - first) >> 1
    value = Hash()
    added = value.put(words, first, limits)
    db.add(key, value, packs=True)
    return added


def put_one(call: Call, key: bytes, value: Hash | None, field: bytes, text: bytes) -> None:
    """Set one field of *value*, the hash at *key*; None is a hash that is created now.

    If the field expires, it still does.
    """
    limits = call.server.node_limits.hash
    if value is not None:
        value.set_keeping_time(field, text, limits)
    else:
        value = Hash()
        value.set(field, text, limits)
        call.db.add(key, value, packs=True)


def follow_removal(call: Call, key: bytes, value: Hash) -> None:
    """Fields of *value*, the hash at *key*, were removed: delete it if it is empty."""
    if not len(value):
        call.db.remove(key)
        call.db.changed(key, b"del", changes=0)
    elif value.timed is not None:
        call.db.expire_fields_at(key, value.next_expiry())
