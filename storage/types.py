"""The types of values: one row each. Everything that depends on a type asks its row.

To add a type, write a folder with its structure and its row (see storage/value_type.py), and add a
line to ROWS.
"""

from __future__ import annotations

from typing import Any

from storage.hashes.value_type import HASH
from storage.lists.value_type import LIST
from storage.rdb import opcodes
from storage.rdb.errors import UnknownType
from storage.sets.value_type import SET
from storage.sorted_sets.value_type import SORTED_SET
from storage.stream.value_type import STREAM
from storage.strings.value_type import STRING
from storage.value_type import ValueType

ROWS = (
    STRING,
    LIST,
    HASH,
    STREAM,
    SET,
    SORTED_SET,
)

MOST_NUMBERS = 128

BY_CLASS: dict[type, ValueType] = {}
BY_RDB_CODE: dict[int, ValueType] = {}
BY_NUMBER: list[ValueType | None] = [None] * MOST_NUMBERS


class UnregisteredClass(TypeError):
    """A value has a Python class that no row names: a bug in the server, never a client's fault."""


def register(row: ValueType) -> None:
    """Make *row* known by its classes, its number and its RDB types.

    Raises ValueError if one of them belongs to another row, or if an RDB type is no such number;
    nothing is changed then.
    """
    codes = row.rdb_codes | {row.rdb_code}
    if any(kind in BY_CLASS for kind in row.classes) or any(code in BY_RDB_CODE for code in codes):
        raise ValueError(f"{row.name!r} has a class or an RDB type that would be of two types")
    if BY_NUMBER[row.number] is not None:
        raise ValueError(f"{row.name!r} has a number that would be of two types")
    if not all(0 <= code < opcodes.FIRST_OPCODE for code in codes):
        raise ValueError(f"{row.name!r} has an RDB type out of range: opcodes are no types")
    BY_CLASS.update(dict.fromkeys(row.classes, row))
    BY_RDB_CODE.update(dict.fromkeys(codes, row))
    BY_NUMBER[row.number] = row


def of(value: Any) -> ValueType:
    """The type of *value*. Raises UnregisteredClass."""
    return of_class(type(value))


def of_class(kind: type) -> ValueType:
    """The type whose values have the class *kind*. Raises UnregisteredClass."""
    rows = BY_CLASS
    row = rows.get(kind)
    if row is None:
        raise UnregisteredClass(f"no type of values has the class {kind.__name__}")
    return row


def packs(kind: type) -> bool:
    """Whether small values of the class *kind* can be packed."""
    rows = BY_CLASS
    row = rows.get(kind)
    return row is not None and row.packs


def of_number(number: int) -> ValueType:
    """The type with that number, which must be one of a row."""
    row = BY_NUMBER[number]
    assert row is not None
    return row


def of_rdb_code(code: int, key: bytes | None) -> ValueType:
    """The type that reads the RDB type *code*. Raises UnknownType, which names *key*."""
    row = BY_RDB_CODE.get(code)
    if row is None:
        raise UnknownType(key, opcodes.name_of_type(code))
    return row


for _row in ROWS:
    register(_row)
