"""One value as DUMP gives it and RESTORE takes it.

    RDB type | value | version | checksum
       1                  2         8           bytes; both numbers little-endian

The checksum is the CRC-64 of all bytes before it. 0 says that there is none, which is accepted
where checksums are switched off.
"""

from __future__ import annotations

from typing import Any

from storage import types
from storage.errors import Corrupt
from storage.rdb import opcodes
from storage.rdb.crc64 import crc64
from storage.rdb.errors import BadPayload
from storage.rdb.options import ReadOptions, WriteOptions
from storage.rdb.reader import RdbReader
from storage.rdb.writer import RdbWriter

FOOTER = 10  # bytes: version and checksum
DEFAULT_WRITE = WriteOptions()
DEFAULT_READ = ReadOptions()


def dump(value: Any, options: WriteOptions = DEFAULT_WRITE) -> bytes:
    """The payload of *value*. O(size).

    Its version is the oldest that has the value's RDB type, so that as many servers read it as can.
    """
    writer = RdbWriter(options.compress, options.version)
    kind = types.of(value)
    code = kind.rdb_code_in(value, options.version)
    writer.byte(code)
    for _ in kind.write(writer, value):
        pass
    writer.u16(kind.rdb_versions.get(code, opcodes.OLDEST_WRITTEN))
    body = writer.take()
    return body + crc64(body).to_bytes(8, "little")


def restore(payload: bytes, options: ReadOptions = DEFAULT_READ) -> Any:
    """The value whose payload this is. O(size).

    Raises BadPayload for an unknown version or a wrong checksum, Corrupt if the bytes are not one
    value, UnknownType if the value is of a type that is not served.
    """
    verify(payload, options)
    reader = RdbReader(payload, 0, len(payload) - FOOTER)
    code = reader.byte()
    kind = types.of_rdb_code(code, None)
    value = kind.read(reader, code, options)
    if reader.left():
        raise Corrupt("bytes behind the value")
    if kind.is_empty(value):
        raise Corrupt(f"a {kind.name.decode()} without elements")
    return value


def verify(payload: bytes, options: ReadOptions) -> None:
    """Raise BadPayload if the version is unknown or the checksum is wrong."""
    if len(payload) < FOOTER:
        raise BadPayload("too short")
    version = int.from_bytes(payload[-FOOTER:-8], "little")
    if not any(opcodes.is_readable(version, valkey) for valkey in (False, True)):
        raise BadPayload(f"version {version}")
    checksum = int.from_bytes(payload[-8:], "little")
    if not options.verify or (checksum == 0 and not options.checksum):
        return
    if crc64(payload[:-8]) != checksum:
        raise BadPayload("checksum")
