"""From rows to XADD commands, one for each row, encoded column by column with Arrow.

    *9  $4 XADD  $6 orders  $1 *   $4 item $3 cup   $5 count $1 2
    ^   ^ the same for all rows    ^ one piece for each field; nothing for null
    '-- the number of words

These columns are not fields: ``_stream``, ``_server``, ``_id``, and ``_fields`` (a map, or an array
of names and values). Rows in the reader's default schema (``stream``, ``id``, ``fields``) are
written the same way. ``timestamp``, ``_ts``, ``_ms`` and ``_seq`` are left out, since ids contain
them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import types as t

from pyspark_penstock import schema as schemas
from pyspark_penstock.connect.connection import command
from pyspark_penstock.errors import OptionError, SinkError
from pyspark_penstock.names import key
from pyspark_penstock.schema import Meaning
from pyspark_penstock.write.ordered import RowIds
from pyspark_penstock.write.sink_options import AT_LEAST_ONCE, EMPTY, ORDERED, SinkOptions
from pyspark_penstock.write.targets import Part, Targets
from pyspark_penstock.write.value_texts import text_of
from pyspark_penstock.write.xadd_commands import Commands

LINE = b"\r\n"
LONGEST = 999  # bytes; the headers of values up to this length are made beforehand
Array = Any  # a pyarrow.Array
Encoded = tuple[str, str, Commands]  # a server's name, a stream, and its commands


class RowEncoder:
    """Encodes rows of one schema. Raises OptionError for a schema that cannot be written."""

    def __init__(self, schema: t.StructType, options: SinkOptions) -> None:
        columns = schemas.columns_of(schema, advice=schemas.HOW_TO_WRITE)
        by_meaning = {column.meaning: column.name for column in columns}
        self._options = options
        self._fields = [c.name for c in columns if c.meaning is Meaning.FIELD]
        self._all_fields = by_meaning.get(Meaning.MAP) or by_meaning.get(Meaning.ARRAY)
        self._targets = Targets(options, by_meaning, {column.name for column in columns})
        self._id = by_meaning.get(Meaning.ID)
        if not (self._fields or self._all_fields):
            raise OptionError("no column is left to be a field of the entries")
        if self._id is not None and options.delivery == ORDERED:
            raise OptionError(f"delivery=ordered gives ids of its own: drop the column {self._id}")
        if self._id is not None and options.delivery == AT_LEAST_ONCE:
            raise OptionError(
                "delivery=at-least-once cannot send a row again whose id is used up: give "
                f"delivery=exactly-once, or drop the column {self._id}"
            )

    def encode(self, batch: Any, row_ids: RowIds | None = None) -> Iterator[Encoded]:
        """The commands for each server and stream, in the order of the rows. Raises SinkError.

        *row_ids* gives the ids, for a delivery in which they follow from the rows. All rows are
        encoded at once, however many streams they are for.
        """
        if not batch.num_rows:
            return
        divided = self._targets.divide(batch)
        rows, parts = divided.batch, divided.parts
        ids = None if self._id is None else rows.column(self._id)
        if row_ids is not None:
            taken = [row_ids.take(part.server, part.stream, part.rows) for part in parts]
            ids = pa.concat_arrays(taken)
        commands = self._commands(parts, rows, ids)
        for part in sorted(parts, key=lambda part: part.first_row):
            own = None if ids is None else ids.slice(part.start, part.rows)
            piece = commands.slice(part.start, part.rows)
            yield part.server, part.stream, Commands(part.stream, piece, own)

    def _commands(self, parts: list[Part], rows: Any, ids: Array | None) -> Array:
        pieces: list[Array] = []
        counts = np.zeros(rows.num_rows, np.int64)
        for name in self._fields:
            field, present = self._field(name, rows.column(name))
            counts += present
            pieces += field
        if self._all_fields is not None:
            piece, more = listed_fields(rows.column(self._all_fields))
            counts += more
            pieces.append(piece)
        if not counts.all():
            empty = int(np.argmin(counts != 0))
            stream = next(part.stream for part in reversed(parts) if part.start <= empty)
            raise SinkError(f"a row for stream {stream!r} has no field that is not null")
        fixed: Any = [self._beginning(part.stream) for part in parts]
        if len(parts) == 1:
            fixed = fixed[0]
        else:
            part_of_row = np.repeat(np.arange(len(parts)), [part.rows for part in parts])
            fixed = pa.array(fixed, pa.binary()).take(pa.array(part_of_row))
        sizes = text_of(pa.array(2 * counts + (3 + len(self._options.trim))))
        wanted = b"$1\r\n*" if ids is None else string(pc.fill_null(ids, "*"))
        return join(b"*", sizes, fixed, wanted, *pieces, LINE, nulls="replace")

    def _beginning(self, stream: str) -> bytes:
        """The words of XADD before the id, without their number."""
        words: tuple[bytes | str, ...] = ("XADD", key(stream), *self._options.trim)
        return LINE + without_count(command(*words))

    def _field(self, name: str, column: Array) -> tuple[list[Array], Any]:
        """Name and value of the field for each row, in parts; and 1 where the value is not null."""
        values = text_of(column)
        if self._options.null_fields == EMPTY:
            values = pc.fill_null(values, b"")
        sizes = pc.binary_length(values)
        if values.null_count == 0 and (pc.max(sizes).as_py() or 0) <= LONGEST:
            return [headers(name).take(sizes), values], 1
        header = LINE + without_count(command(name)) + b"$"
        return [join(header, text_of(sizes), LINE, values)], valid(values)


@cache
def headers(name: str) -> Array:
    """The bytes before a value of the field, for each length of the value up to LONGEST."""
    header = LINE + without_count(command(name))
    return pa.array([b"%s$%d\r\n" % (header, n) for n in range(LONGEST + 1)], pa.binary())


def without_count(request: bytes) -> bytes:
    """A request without the number of its words."""
    return request.split(LINE, 1)[1]


def listed_fields(column: Array) -> tuple[Array, Any]:
    """The fields in a column of all fields, encoded for each row; and how many there are."""
    offsets = column.offsets.to_numpy().astype(np.int64)
    if pa.types.is_map(column.type):
        names, values = column.keys, column.items
    else:
        names, values = (column.values.field(part) for part in range(2))
    pairs = join(LINE, string(names), LINE, string(text_of(values)))
    present = np.concatenate([[0], np.cumsum(valid(pairs))])
    pairs = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pc.fill_null(pairs, b""))
    counts = present[offsets[1:]] - present[offsets[:-1]]
    return pc.binary_join(pairs, b""), counts


def string(values: Array) -> Array:
    """Values as bulk strings, without the final line break."""
    values = text_of(values)
    return join(b"$", text_of(pc.binary_length(values)), LINE, values)


def join(*parts: Array | bytes, nulls: str = "emit_null") -> Array:
    """Concatenate the parts of each row."""
    scalars = [pa.scalar(p, pa.binary()) if isinstance(p, bytes) else p for p in parts]
    return pc.binary_join_element_wise(
        *scalars, pa.scalar(b"", pa.binary()), null_handling=nulls, null_replacement=""
    )


def valid(column: Array) -> Any:
    """1 for a value, 0 for null."""
    return pc.is_valid(column).to_numpy(zero_copy_only=False).astype(np.int64)
