"""One value as DUMP gives it and RESTORE takes it.

    RDB type | value | [aux fields] | version | checksum
       1                                 2         8           bytes; both numbers little-endian

The aux fields have what the RDB type of the value has no place for, and the side data of the key,
as in an RDB; Redis does not look at what follows the value (observed with Redis 7.0, 8.0 and 8.6,
and Valkey 9.1).

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
from storage.side_data.side_data import AUX, SideData, side_data_in
from storage.value_type import BESIDE

FIELDS = (BESIDE, AUX)
FOOTER = 10  # bytes: version and checksum
DEFAULT_WRITE = WriteOptions()
DEFAULT_READ = ReadOptions()


def dump(value: Any, options: WriteOptions = DEFAULT_WRITE, side: SideData | None = None) -> bytes:
    """The payload of *value*, with the *side* data of its key. O(size).

    Its version is the oldest that has the value's RDB type, so that as many servers read it as can.
    """
    writer = RdbWriter(options.compress, options.version)
    kind = types.of(value)
    code = kind.rdb_code_in(value, options.version)
    writer.byte(code)
    for _ in kind.write_value(writer, value):
        pass
    beside = kind.beside(value, options.version)
    if beside:
        _write_field(writer, BESIDE, beside)
    if side is not None:
        _write_field(writer, AUX, side.record())
    writer.u16(kind.rdb_versions.get(code, opcodes.OLDEST_WRITTEN))
    body = writer.take()
    return body + crc64(body).to_bytes(8, "little")


def _write_field(writer: RdbWriter, name: bytes, text: bytes) -> None:
    writer.byte(opcodes.AUX)
    writer.string(name)
    writer.string(text)


def restore(payload: bytes, options: ReadOptions = DEFAULT_READ) -> Any:
    """The value whose payload this is. O(size). Raises what restore_all() does."""
    return restore_all(payload, options)[0]


def restore_all(payload: bytes, options: ReadOptions = DEFAULT_READ) -> tuple[Any, SideData | None]:
    """The value whose payload this is, and the side data of its key, if it has any. O(size).

    Raises BadPayload for an unknown version or a wrong checksum, Corrupt if the bytes are not one
    value, UnknownType if the value is of a type that is not served.
    """
    verify(payload, options)
    reader = RdbReader(payload, 0, len(payload) - FOOTER)
    code = reader.byte()
    kind = types.of_rdb_code(code, None)
    value = kind.read(reader, code, options)
    fields = _fields(reader)
    if BESIDE in fields:
        kind.add_beside(value, fields[BESIDE])
    side = side_data_in(fields[AUX]) if AUX in fields else None
    if kind.is_empty(value):
        raise Corrupt(f"a {kind.name.decode()} without elements")
    return value, side


def _fields(reader: RdbReader) -> dict[bytes, bytes]:
    """The aux fields after the value. Raises Corrupt if anything else follows it."""
    fields: dict[bytes, bytes] = {}
    while reader.left():
        if reader.byte() != opcodes.AUX:
            raise Corrupt("bytes after the value")
        name = reader.string()
        if name not in FIELDS or name in fields:
            raise Corrupt("bytes after the value")
        fields[name] = reader.string()
    return fields


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
