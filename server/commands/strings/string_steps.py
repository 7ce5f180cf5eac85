"""The steps that string commands are made of.

A string is stored as bytes, bytearray or int; see storage/strings/value_type.py. Clients are always
answered with bytes.
"""

from __future__ import annotations

from server.dispatch.call import Call
from storage.keyspace.keyspace import String


def text_of(value: String) -> bytes:
    """The bytes that a client sees."""
    if type(value) is bytes:
        return value
    return b"%d" % value if type(value) is int else bytes(value)


def length_of(value: String) -> int:
    """The number of bytes that a client sees."""
    return len(b"%d" % value) if type(value) is int else len(value)  # type: ignore[arg-type]


def put(call: Call, key: bytes, value: bytes) -> None:
    """Put *value* at *key*, without an expiry."""
    call.db.put(key, value)
    call.db.changed(key, b"set")
