"""Times to live: from what a client says to unix milliseconds, and to the keyspace."""

from __future__ import annotations

from protocol.replies import ErrorReply
from server.table.args import INT64_MAX, INT64_MIN, to_int
from storage.keyspace.keyspace import Keyspace

UNITS = (b"EX", b"PX", b"EXAT", b"PXAT")


def absolute_ms(text: bytes, unit: bytes, now_ms: int, name: str) -> int:
    """The unix ms at which a key expires, from *text* in seconds (EX, EXAT) or ms (PX, PXAT).

    Raises ErrorReply, naming the command, if that is not after 1970 or does not fit 64 bits.
    """
    number = to_int(text)
    if number <= 0:
        raise _invalid(name)
    return checked_ms(number, unit, now_ms, name)


def checked_ms(number: int, unit: bytes, now_ms: int, name: str) -> int:
    """The unix ms for *number* in *unit*; it may be negative, as in EXPIRE. Raises ErrorReply."""
    ms = number * 1000 if unit in (b"EX", b"EXAT") else number
    if not INT64_MIN <= ms <= INT64_MAX:
        raise _invalid(name)
    if unit in (b"EX", b"PX"):
        ms += now_ms
    if ms > INT64_MAX:
        raise _invalid(name)
    return ms


def _invalid(name: str) -> ErrorReply:
    return ErrorReply("ERR", f"invalid expire time in '{name}' command")


def expire(db: Keyspace, key: bytes, when_ms: int, now_ms: int, is_replayed: bool) -> None:
    """Set the expiry of *key*, which exists, to *when_ms*; delete it if that has passed.

    It is logged as an absolute time, or as a deletion. If the command is replayed, that time had
    not passed when it ran.
    """
    if when_ms <= now_ms and not is_replayed:
        db.remove(key)
        db.changed(key, b"del", changes=1, log=(b"DEL", key))
        return
    db.expire_at(key, when_ms)
    db.changed(key, b"expire", changes=1, log=(b"PEXPIREAT", key, b"%d" % when_ms))
