"""Values of a column as text, in the form in which fields are written."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

UTC_MICROSECONDS = pa.timestamp("us", tz="UTC")


def text_of(column: Any) -> Any:
    """Values as bytes, in a form that the reader parses again."""
    kind = column.type
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return column.cast(pa.binary())
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        column = column.cast(UTC_MICROSECONDS)
    if not pa.types.is_string(kind):
        column = column.cast(pa.string())
    return column.cast(pa.binary())
