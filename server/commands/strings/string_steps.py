"""The steps that string commands are made of.

A string is stored as bytes, bytearray or int; see storage/strings/value_type.py. Clients are always
answered with bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

from protocol.replies import ErrorReply
from server.dispatch.call import Call
from server.table import args
from server.table.args import INT64_MAX
from storage import allocation
from storage.keyspace.expiring_keys import NO_EXPIRY
from storage.keyspace.key_changes import NOTHING
from storage.keyspace.key_lookups import STRING, String

ALWAYS_ALLOWED = 8 * 1024**2  # bits; proto-max-bulk-len is a megabyte at least
BAD_BIT_OFFSET = ErrorReply("ERR", "bit offset is not an integer or out of range")


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


def put_all(call: Call, end: int, when_ms: int, keep: bool) -> None:
    """Put the pairs in ``argv[2:end]``, until *when_ms* if that is not NO_EXPIRY.

    *keep*: the expiries stay. They are logged as commands that every replica knows.
    """
    db, argv = call.db, call.argv
    as_mset = when_ms == NO_EXPIRY and not keep
    is_logged = call.is_logged
    log: Sequence[bytes] | None = NOTHING if is_logged else None
    option = (b"KEEPTTL",) if keep else (b"PXAT", b"%d" % when_ms)
    for at in range(2, end, 2):
        key, value = argv[at], argv[at + 1]
        db.put(key, value, keep or when_ms != NO_EXPIRY)  # whose old expiry is replaced
        if when_ms != NO_EXPIRY:
            db.expire_at(key, when_ms)
            db.changed(key, b"expire", changes=0)
        if is_logged:
            if not as_mset:
                log = (b"SET", key, value, *option)
            elif at + 2 == end:
                log = [b"MSET", *argv[2:end]]
        db.changed(key, b"set", changes=1, log=log)


def octets_of(value: String) -> bytes | bytearray:
    """The bytes that a client sees, not copied if they are a bytearray."""
    return b"%d" % value if type(value) is int else value  # type: ignore[return-value]


def padded(call: Call, key: bytes, value: String | None, size: int) -> bytearray:
    """Make *value*, the string at *key*, a bytearray of *size* bytes at least; zeros are added.

    None is a string that is created now. What is returned is stored, and may be changed in place.
    """
    raw = value if type(value) is bytearray else bytearray(b"" if value is None else text_of(value))
    before = allocation.of_string(raw)
    if len(raw) < size:
        raw.extend(bytes(size - len(raw)))
    if value is None:
        call.db.add(key, raw)
    elif raw is not value:
        call.db.store_string(key, raw)
    else:
        grown = allocation.of_string(raw) - before
        if grown:
            call.db.store_string(key, raw, grown)
    return raw


def to_bit_offset(call: Call, text: bytes, width: int = 0) -> int:
    """The number of a bit that a string may have. *width* (0: none) is what ``#n`` counts in.

    Raises BAD_BIT_OFFSET if the string would be longer than proto-max-bulk-len.
    """
    by_width = width > 0 and text.startswith(b"#")
    offset = args.to_int(text[1:] if by_width else text, BAD_BIT_OFFSET)
    if offset < 0 or (by_width and offset > INT64_MAX // width):
        raise BAD_BIT_OFFSET
    if by_width:
        offset *= width
    if offset >= ALWAYS_ALLOWED and offset >> 3 >= call.longest_string():
        raise BAD_BIT_OFFSET
    return offset


def set_bit(call: Call, key: bytes, offset: int, bit: int) -> int:
    """Let that bit of the string at *key* be *bit*; return what it was."""
    value = call.db.find(key, STRING)
    at = offset >> 3
    mask = 0x80 >> (offset & 7)
    size = -1 if value is None else length_of(value)
    text = padded(call, key, value, at + 1)
    old = 1 if text[at] & mask else 0
    if old != bit:
        text[at] ^= mask
    if old != bit or size <= at:
        call.db.changed(key, b"setbit")
    return old
