"""The row of the type "string".

A string is kept in the form that the last command gave it: ``bytes`` by SET, ``int`` by INCR,
``bytearray`` by APPEND or SETRANGE, because it grows in place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

from storage import allocation, octets
from storage.rdb import borrowed
from storage.rdb.options import ReadOptions
from storage.rdb.reader import RdbReader
from storage.rdb.writer import RdbWriter
from storage.value_type import ValueType, Words

String: TypeAlias = bytes | bytearray | int

RDB_STRING = 0
EMBEDDED_UP_TO = 44  # bytes: up to here Redis keeps a string in one block with its header
SHARED_INTEGERS = 10_000  # Redis keeps one object for each integer below this one ...
SHARED = 2**31 - 1  # ... and this is its reference count


def text_of(value: String) -> bytes:
    """The bytes of a string."""
    return octets.decimal(value) if isinstance(value, int) else bytes(value)


class StringType(ValueType):
    """Strings. A string may be empty."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(b"string", 0, (bytes, bytearray, int), RDB_STRING, (RDB_STRING,))

    def encoding(self, value: String) -> bytes:
        if isinstance(value, bytearray):
            return b"raw"
        if isinstance(value, int) or octets.is_int64(value):
            return b"int"
        return b"embstr" if len(value) <= EMBEDDED_UP_TO else b"raw"

    def reference_count(self, value: String) -> int:
        is_integer = self.encoding(value) == b"int"
        return SHARED if is_integer and 0 <= int(value) < SHARED_INTEGERS else 1

    def copy(self, value: String) -> String:
        return value[:] if isinstance(value, bytearray) else value

    def memory(self, value: String, samples: int) -> int:
        return allocation.of_string(value)

    def length(self, value: String) -> int:
        return 1

    def digest_parts(self, value: String) -> Iterable[bytes]:
        return [text_of(value)]

    def commands(self, key: bytes, value: String) -> Iterator[Words]:
        yield [b"SET", key, text_of(value)]

    def write_value(self, writer: RdbWriter, value: String) -> Iterator[None]:
        if isinstance(value, int):
            writer.int_string(value)
        else:
            writer.string(bytes(value))
        return iter(())

    def write_at_once(
        self, writer: RdbWriter, key: borrowed.Borrowed, value: borrowed.Borrowed
    ) -> bool:
        if borrowed.is_bytes(value):
            self.write_head(writer, key, self.rdb_code)
            writer.text(borrowed.octets(value), borrowed.size(value))
            return True
        if borrowed.is_int(value):
            self.write_head(writer, key, self.rdb_code)
            writer.int_string(borrowed.number(value))
            return True
        return False

    def read(self, reader: RdbReader, code: int, options: ReadOptions) -> Any:
        return reader.string_or_int()


STRING = StringType()
