"""Access to the records of a run of deadlines: the plain versions of the C functions.

A record has three numbers of 64 bits: the deadline, and the ms and seq of an entry's id. Compiled,
no function checks bounds: callers do.
"""

from __future__ import annotations

RECORD = 24  # bytes


def resize(records: bytearray, count: int) -> None:
    """Let *records* have room for *count*: those that are new are undefined."""
    size = count * RECORD
    del records[size:]
    records += bytes(size - len(records))


def put(records: bytearray, at: int, deadline_ms: int, ms: int, seq: int) -> None:
    """Let the record number *at* be this one."""
    record = b"".join(number.to_bytes(8, "little") for number in (deadline_ms, ms, seq))
    records[at * RECORD : (at + 1) * RECORD] = record


def deadline_at(records: bytearray, at: int) -> int:
    """The deadline of the record number *at*."""
    return _number(records, at * RECORD)


def ms_at(records: bytearray, at: int) -> int:
    """The first part of its id."""
    return _number(records, at * RECORD + 8)


def seq_at(records: bytearray, at: int) -> int:
    """The second part of its id."""
    return _number(records, at * RECORD + 16)


def forget(records: bytearray, at: int) -> None:
    """Let the record number *at* have no deadline: 0."""
    records[at * RECORD : at * RECORD + 8] = bytes(8)


def _number(records: bytearray, at: int) -> int:
    return int.from_bytes(records[at : at + 8], "little")
