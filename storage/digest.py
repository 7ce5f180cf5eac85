"""One short number for a value, or for all data: two servers with the same data have the same one.

    value      mix the type's number; mix each part, in order; with an expiry, add "!!expire!!"
                   string    its text
                   list      each element
                   stream    of each entry "ms.seq", then each name and each value
    data       for each database that has keys: mix its number, then add for each of its keys
                   (mix the key, then the value as above)

    add(x)     digest ^= SHA-1(x)                     the order does not matter
    mix(x)     digest = SHA-1(digest ^ SHA-1(x))      it does

Numbers are mixed as 32 bits, big-endian. As in redis, when a key expires is not told, and groups of
streams, counters and last ids are no part of it: XINFO STREAM FULL compares those.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha1
from typing import Any

from storage import octets
from storage.keyspace.keyspace import NO_EXPIRY, Keyspace
from storage.lists.quicklist import QuickList
from storage.stream.stream import Stream

SIZE = 20  # bytes
NOTHING = bytes(SIZE)  # the digest of no key, and of no data

# Redis's numbers of the types.
STRING, LIST, STREAM = 0, 1, 6

EXPIRES = b"!!expire!!"


def of_data(databases: Iterable[Keyspace]) -> bytes:
    """The digest of all keys, those past their time too. O(size)."""
    digest = NOTHING
    for db in databases:
        if not len(db):
            continue
        digest = _mixed(digest, _number(db.index))
        for key, value in db.table.items():
            digest = _added(digest, _of_value(_mixed(NOTHING, key), value, db.expiry(key)))
    return digest


def of_key(db: Keyspace, key: bytes) -> bytes:
    """The digest of what is at *key*, past its time or not; NOTHING if there is no such key."""
    value = db.table.get(key)
    return NOTHING if value is None else _of_value(NOTHING, value, db.expiry(key))


def _of_value(digest: bytes, value: Any, expiry: int) -> bytes:
    kind, parts = _parts(value)
    digest = _mixed(digest, _number(kind))
    for part in parts:
        digest = _mixed(digest, part)
    return digest if expiry == NO_EXPIRY else _added(digest, EXPIRES)


def _parts(value: Any) -> tuple[int, Iterable[bytes]]:
    """The number of the type of *value*, and what it consists of."""
    if isinstance(value, Stream):
        return STREAM, _entries(value)
    if isinstance(value, QuickList):
        return LIST, value
    return STRING, [octets.decimal(value) if isinstance(value, int) else value]


def _entries(stream: Stream) -> Iterator[bytes]:
    entry = stream.range()
    while entry.next():
        yield b"%d.%d" % (entry.ms, entry.seq)
        yield from entry.read_fields()


def _added(digest: bytes, data: bytes) -> bytes:
    """*digest*, and *data* in it, in no order."""
    both = int.from_bytes(digest, "big") ^ int.from_bytes(sha1(data).digest(), "big")  # noqa: S324
    return both.to_bytes(SIZE, "big")


def _mixed(digest: bytes, data: bytes) -> bytes:
    """*digest*, and *data* behind what is in it."""
    return sha1(_added(digest, data)).digest()  # noqa: S324  (redis's choice; guards nothing)


def _number(number: int) -> bytes:
    return number.to_bytes(4, "big")
