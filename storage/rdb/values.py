"""A value in an RDB: which type it has there, and which module reads and writes that type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from storage.lists.quicklist import QuickList
from storage.rdb import borrowed, lists, opcodes, streams
from storage.rdb.errors import UnknownType
from storage.rdb.reader import RdbReader
from storage.rdb.writer import RdbWriter
from storage.stream.stream import Stream

STRING = opcodes.STRING
LIST = opcodes.LIST_QUICKLIST_2
STREAM = opcodes.STREAM_2
_TYPES = {QuickList: LIST, Stream: STREAM}


def type_of(value: Any) -> int:
    """The type that *value* is written as."""
    return _TYPES.get(type(value), STRING)


def write(writer: RdbWriter, key: bytes | None, value: Any) -> Iterator[None]:
    """Write type, *key* if there is one, and *value*.

    At each step the caller may take what has been written.
    """
    writer.byte(type_of(value))
    if key is not None:
        writer.string(key)
    kind = type(value)
    if kind is Stream:
        yield from streams.write(writer, value)
    elif kind is QuickList:
        yield from lists.write(writer, value)
    elif kind is int:
        writer.int_string(value)
    else:
        writer.string(bytes(value))


def write_at_once(writer: RdbWriter, key: borrowed.Borrowed, value: borrowed.Borrowed) -> bool:
    """Write type, *key* and *value* if that takes one step and *value* need not be held.

    So it is for strings that have not been appended to, and for short lists. False, and nothing is
    written, for all else.
    """
    if borrowed.is_bytes(value):
        _write_head(writer, STRING, key)
        writer.text(borrowed.octets(value), borrowed.size(value))
        return True
    if borrowed.is_int(value):
        _write_head(writer, STRING, key)
        writer.int_string(borrowed.number(value))
        return True
    pack = borrowed.lone_pack(value)
    if borrowed.is_nothing(pack):
        return False
    _write_head(writer, LIST, key)
    lists.write_lone(writer, pack)
    return True


def _write_head(writer: RdbWriter, kind: int, key: borrowed.Borrowed) -> None:
    writer.byte(kind)
    writer.text(borrowed.octets(key), borrowed.size(key))


def read(reader: RdbReader, kind: int, key: bytes | None, list_fill: int) -> Any:
    """Read a value of the type *kind*. A list may be empty, which it is nowhere else.

    Raises Corrupt, and UnknownType, which names *key*, for types that are not served.
    """
    if kind == STRING:
        return reader.string_or_int()
    if kind in opcodes.STREAMS:
        return streams.read(reader, kind)
    if kind in opcodes.LISTS:
        return lists.read(reader, kind, list_fill)
    raise UnknownType(key, opcodes.name_of_type(kind))
