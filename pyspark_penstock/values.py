"""Values as text become values of Arrow's types; what cannot is null and marked as bad.

Casts run over whole columns. Only where one fails is the column halved, and its halves again,
until what is left alone is the bad value: a page with a few bad values costs little more.

A timestamp is read with its zone, or without one as UTC; a date as ``2026-11-21``.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

Column = Any  # a pyarrow.Array; pyarrow has no types
Bad = Any  # a pyarrow.BooleanArray: which values were bad


def cast(column: Column, kind: Any) -> tuple[Column, Bad | None]:
    """The binary *column* as values of the Arrow type *kind*; and which were bad, if any was."""
    if pa.types.is_binary(kind):
        return column, None
    try:
        return whole(column, kind), None
    except pa.ArrowInvalid:
        parts = halved(column, kind)
    bad = pa.concat_arrays([flags for _, flags in parts])
    return pa.concat_arrays([values for values, _ in parts]), bad


def halved(column: Column, kind: Any) -> list[tuple[Column, Bad]]:
    """The column in parts, each with which of its values are bad."""
    try:
        return [(whole(column, kind), pa.array([False] * len(column)))]
    except pa.ArrowInvalid:
        if len(column) == 1:
            return [(pa.nulls(1, kind), pa.array([True]))]
    middle = len(column) // 2
    return halved(column[:middle], kind) + halved(column[middle:], kind)


def whole(column: Column, kind: Any) -> Column:
    """The column as values of *kind*. Raises pyarrow.ArrowInvalid if any is not one."""
    if pa.types.is_string(kind):
        return pc.cast(column, kind)
    text = column.view(pa.string())  # not proven to be, but no value of another type has to be
    return timestamps(text, kind) if pa.types.is_timestamp(kind) else pc.cast(text, kind)


def timestamps(text: Column, kind: Any) -> Column:
    """Times; those without a zone are in UTC."""
    if kind.tz is None:
        return pc.cast(text, kind)
    try:
        return pc.cast(text, kind)
    except pa.ArrowInvalid:
        return pc.assume_timezone(pc.cast(text, pa.timestamp(kind.unit)), kind.tz)
