"""The steps that sorted set commands are made of: take from an end, store, delete when empty.

Each step keeps the rules that sorted set commands share: a set is made with its first member and
deleted with its last one, and every change is told under the event name of redis.
"""

from __future__ import annotations

from collections.abc import Sequence

from protocol.replies import Reply
from server.dispatch.call import Call
from storage.sorted_sets.sorted_set import SortedSet


def removed(
    call: Call,
    key: bytes,
    values: SortedSet,
    event: bytes,
    count: int,
    log: Sequence[bytes] | None = None,
) -> None:
    """Tell that *count* members were removed; delete the set if it is empty now.

    *log*: see Keyspace.changed.
    """
    call.db.changed(key, event, changes=count, log=log)
    if values.length() == 0:
        delete(call, key, 0)


def delete(call: Call, key: bytes, changes: int = 1) -> None:
    """Delete the key, if it exists, and report that."""
    if call.db.remove(key):
        call.db.changed(key, b"del", changes=changes)


def store(call: Call, key: bytes, values: SortedSet, event: bytes, changes: int = 1) -> int:
    """Put *values* at *key*, whatever was there; an empty set deletes it. Returns the size.

    *changes* is how much it counts towards the next save, if there is anything to put.
    """
    size = values.length()
    if size:
        call.db.put(key, values)
        call.db.changed(key, event, changes=changes)
    else:
        delete(call, key)
    return size


def pop(
    call: Call,
    key: bytes,
    values: SortedSet,
    lowest: bool,
    count: int,
    log: Sequence[bytes] | None = None,
) -> list[tuple[bytes, float]]:
    """Take up to *count* members off one end of the set at *key*, with their scores."""
    size = values.length()
    count = min(count, size)
    walk = values.walk(0 if lowest else size - 1, not lowest)
    pairs = []
    for _ in range(count):
        walk.next()
        pairs.append((walk.member(), walk.score))
    remove_end(call, key, values, lowest, count, log)
    return pairs


def remove_end(
    call: Call,
    key: bytes,
    values: SortedSet,
    lowest: bool,
    count: int,
    log: Sequence[bytes] | None = None,
) -> None:
    """Remove the *count* members at one end of the set at *key*."""
    first = 0 if lowest else values.length() - count
    values.remove_range(first, first + count)
    removed(call, key, values, b"zpopmin" if lowest else b"zpopmax", count, log)


def pop_first(call: Call, keys: list[bytes], lowest: bool, count: int) -> Reply:
    """Take members off the first of *keys* that has any; None if none has. Raises WrongType.

    The reply is ``[key, [[member, score], ...]]``. The key that was found is logged.
    """
    found = first_with_members(call, keys)
    if found is None:
        return None
    key, values = found
    log = (b"ZPOPMIN" if lowest else b"ZPOPMAX", key, b"%d" % min(count, values.length()))
    pairs = pop(call, key, values, lowest, count, log)
    return [key, [[member, score] for member, score in pairs]]


def first_with_members(call: Call, keys: list[bytes]) -> tuple[bytes, SortedSet] | None:
    """The first of *keys*, in their order, that holds a sorted set. Raises WrongType on the way."""
    for key in keys:
        values: SortedSet | None = call.db.find(key, SortedSet)
        if values is not None:
            return key, values
    return None
