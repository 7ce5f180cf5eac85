"""All libraries of functions as one value: what FUNCTION DUMP gives and FUNCTION RESTORE takes.

    F5 | text    of each library
    version | checksum, as in payload.py

Source: functions.c of Redis 7.0
"""

from __future__ import annotations

from collections.abc import Iterable

from storage import payload
from storage.errors import Corrupt
from storage.rdb import opcodes
from storage.rdb.crc64 import crc64
from storage.rdb.options import ReadOptions, WriteOptions
from storage.rdb.reader import RdbReader
from storage.rdb.writer import RdbWriter


def dump(sources: Iterable[bytes], options: WriteOptions = payload.DEFAULT_WRITE) -> bytes:
    """The payload of libraries with these texts. O(bytes)."""
    writer = RdbWriter(options.compress)
    for source in sources:
        writer.byte(opcodes.FUNCTION)
        writer.string(source)
    writer.u16(opcodes.OLDEST_WRITTEN)
    body = writer.take()
    return body + crc64(body).to_bytes(8, "little")


def restore(data: bytes, options: ReadOptions = payload.DEFAULT_READ) -> list[bytes]:
    """The texts of the libraries. O(bytes).

    Raises BadPayload for an unknown version or a wrong checksum, Corrupt for anything else.
    """
    payload.verify(data, options)
    reader = RdbReader(data, 0, len(data) - payload.FOOTER)
    sources: list[bytes] = []
    while reader.left():
        if reader.byte() != opcodes.FUNCTION:
            raise Corrupt("no library of functions")
        sources.append(reader.string())
    return sources
