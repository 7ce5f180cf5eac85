"""From pages to record batches: each column of the schema is built from a whole page."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pyspark_penstock.errors import ValueMismatchError
from pyspark_penstock.figures import BAD_VALUES, ROWS_DROPPED, Sums
from pyspark_penstock.names import utf8
from pyspark_penstock.read import cast_columns
from pyspark_penstock.read.page import Page
from pyspark_penstock.schema import Column, Meaning, arrow_schema

PERMISSIVE, FAILFAST, DROPMALFORMED = MODES = ("PERMISSIVE", "FAILFAST", "DROPMALFORMED")
BAD_ROWS_LEAVE = "bad rows leave"  # those too that lack a value which must not be null
LARGEST_MS_AS_TIME = (1 << 63) // 1_000 - 1
LARGEST_LONG = (1 << 63) - 1

logger = logging.getLogger(__name__)
Array = Any  # a pyarrow.Array


class Origin(NamedTuple):
    """Where some consecutive rows of a page are from, and in how many bytes they came.

    *part* is the task's range of the stream.
    """

    stream: str
    rows: int
    part: int = 0
    bytes: int = 0


class BadRow(NamedTuple):
    """An entry that does not fit the schema: its id, names and values in order, and why."""

    origin: Origin
    id: bytes
    fields: list[bytes]
    error: str


class BatchBuilder:
    """Builds the record batches of streams. *mode* says what happens to bad values.

    *stream* and *server* are where rows are from for which nothing else is said. With *keeps_bad*
    the rows that leave are in ``bad_rows``, for the caller to take. Bad values and dropped rows are
    counted in *sums*.
    """

    def __init__(
        self,
        stream: str,
        columns: Sequence[Column],
        mode: str,
        *,
        server: str = "",
        keeps_bad: bool = False,
        sums: Sums | None = None,
    ) -> None:
        self.bad_values = 0
        self._sums = Sums() if sums is None else sums
        self.bad_rows: list[BadRow] = []
        self._stream = stream
        self._server = server
        self._columns = columns
        self._mode = mode
        self._keeps_bad = keeps_bad
        self._schema = arrow_schema(columns)
        self._builders: dict[Meaning, Callable[[Page, Column], Array]] = {
            Meaning.SERVER: self._server_column,
            Meaning.STREAM: self._stream_column,
            Meaning.ID: id_column,
            Meaning.TIME: time_column,
            Meaning.MS: ms_column,
            Meaning.SEQ: seq_column,
            Meaning.MAP: map_column,
            Meaning.ARRAY: array_column,
        }

    def batch(self, page: Page, origins: Sequence[Origin] = ()) -> Any:
        """The record batch of *page*, whose rows are from *origins*. Raises ValueMismatchError."""
        self._origins = origins or [Origin(self._stream, len(page))]
        self._reasons: dict[int, str] = {}
        arrays: dict[str, Array] = {}
        bad = None
        for column in self._columns:
            if column.meaning is Meaning.FIELD:
                arrays[column.name], wrong = self._field(page, column)
                if wrong is not None:
                    bad = wrong if bad is None else pc.or_(bad, wrong)
            elif column.meaning is not Meaning.CORRUPT:
                arrays[column.name] = self._builders[column.meaning](page, column)
        if self._mode == BAD_ROWS_LEAVE:
            bad = self._lacking(arrays, bad)
        for column in self._columns:
            if column.meaning is Meaning.CORRUPT:
                arrays[column.name] = corrupt_column(page, bad)
        ordered = [arrays[column.name] for column in self._columns]
        batch = pa.RecordBatch.from_arrays(ordered, schema=self._schema)
        leave = self._mode in {DROPMALFORMED, BAD_ROWS_LEAVE} and bad is not None
        kept = pc.invert(bad) if leave else None
        if kept is not None:
            batch = batch.filter(kept)
            self._add(ROWS_DROPPED, bad)
            if self._keeps_bad:
                self._keep(page, bad)
        self._refuse_nulls(batch, page, kept)
        return batch

    def origin(self, row: int) -> Origin:
        """Where a row of the last page is from."""
        for origin in self._origins:
            if row < origin.rows:
                return origin
            row -= origin.rows
        raise IndexError(row)

    def _add(self, name: str, rows: Array) -> None:
        """Count *rows* of the page, which are marked, by their streams."""
        marked = np.flatnonzero(rows.to_numpy(zero_copy_only=False))
        ends = np.cumsum([origin.rows for origin in self._origins])
        counts = np.bincount(np.searchsorted(ends, marked, "right"), minlength=len(ends))
        for origin, count in zip(self._origins, counts.tolist(), strict=True):
            self._sums.add((self._server, origin.stream), name, count)

    def _where(self, page: Page, row: int) -> str:
        entry = page.ids[row].as_py().decode()
        return f"stream {self.origin(row).stream!r}, entry {entry}"

    def _field(self, page: Page, column: Column) -> tuple[Array, Array | None]:
        found = page.column(column.name.encode())
        if found is None:
            return pa.nulls(len(page), column.arrow), None
        array, bad = cast_columns.cast(found, column.arrow)
        if bad is not None:
            self._count(page, column, found, bad)
        return array, bad

    def _count(self, page: Page, column: Column, found: Array, bad: Array) -> None:
        at = pc.index(bad, True).as_py()
        where, what = self._where(page, at), wrong_value(column, found[at])
        if self._mode == FAILFAST:
            raise ValueMismatchError(f"{where}: {what}")
        if not self.bad_values:
            instead = "leave" if self._mode == BAD_ROWS_LEAVE else "are null"
            logger.warning("%s: %s; it and others like it %s", where, what, instead)
        self.bad_values += pc.sum(bad).as_py()
        self._add(BAD_VALUES, bad)
        if self._keeps_bad:
            for row in np.flatnonzero(bad.to_numpy(zero_copy_only=False)).tolist():
                self._reasons.setdefault(row, wrong_value(column, found[row]))

    def _lacking(self, arrays: dict[str, Array], bad: Array | None) -> Array | None:
        """Which rows are *bad*, or lack a value that must not be null."""
        for column in self._columns:
            array = arrays.get(column.name)
            if array is None or column.nullable or not array.null_count:
                continue
            missing = pc.is_null(array)
            if bad is not None:
                missing = pc.and_(missing, pc.invert(bad))
            bad = missing if bad is None else pc.or_(bad, missing)
            self.bad_values += pc.sum(missing).as_py() or 0
            self._add(BAD_VALUES, missing)
            for row in np.flatnonzero(missing.to_numpy(zero_copy_only=False)).tolist():
                why = f"{column.name} is NOT NULL, and there is no {column.arrow} for it"
                self._reasons.setdefault(row, why)
        return bad

    def _keep(self, page: Page, bad: Array) -> None:
        starts, strings = page.fields()
        for row in np.flatnonzero(bad.to_numpy(zero_copy_only=False)).tolist():
            fields = strings[starts[row] : starts[row + 1]].to_pylist()
            entry = page.ids[row].as_py()
            self.bad_rows.append(BadRow(self.origin(row), entry, fields, self._reasons[row]))

    def _refuse_nulls(self, batch: Any, page: Page, kept: Array | None) -> None:
        """Raises ValueMismatchError for null in a NOT NULL column.

        Java would too, but without the entry.
        """
        for column, array in zip(self._columns, batch.columns, strict=True):
            if not column.nullable and array.null_count:
                row = pc.index(pc.is_null(array), True).as_py()
                if kept is not None:
                    row = int(np.flatnonzero(kept.to_numpy(zero_copy_only=False))[row])
                raise ValueMismatchError(
                    f"{self._where(page, row)}: the column {column.name!r} is "
                    f"NOT NULL, and there is no {column.arrow} for it"
                )

    def _server_column(self, page: Page, _: Column) -> Array:
        return pa.repeat(pa.scalar(utf8(self._server), pa.string()), len(page))

    def _stream_column(self, _page: Page, _: Column) -> Array:
        names = pa.array([utf8(origin.stream) for origin in self._origins], pa.string())
        sizes = [origin.rows for origin in self._origins]
        return names.take(pa.array(np.repeat(np.arange(len(sizes)), sizes)))


def wrong_value(column: Column, value: Any) -> str:
    """What is wrong with a field's value."""
    return f"{column.name}={value.as_py()!r} is not {column.arrow}"


def id_column(page: Page, _: Column) -> Array:
    """The ids as text."""
    return page.ids.cast(pa.string())


def id_parts(page: Page) -> Any:
    """Milliseconds and sequence of each id, as two columns of unsigned 64-bit numbers."""
    parts = pc.split_pattern(page.ids.cast(pa.string()), "-").values.cast(pa.uint64())
    return parts.to_numpy().reshape(-1, 2)


def time_column(page: Page, column: Column) -> Array:
    """The times in the ids; null if one is too late for a timestamp."""
    return bounded(id_parts(page)[:, 0], LARGEST_MS_AS_TIME, 1_000).cast(column.arrow)


def ms_column(page: Page, _: Column) -> Array:
    """The milliseconds in the ids; null if they do not fit into a signed 64-bit number."""
    return bounded(id_parts(page)[:, 0], LARGEST_LONG)


def seq_column(page: Page, _: Column) -> Array:
    """The sequences in the ids; null if they do not fit into a signed 64-bit number."""
    return bounded(id_parts(page)[:, 1], LARGEST_LONG)


def bounded(numbers: Any, largest: int, factor: int = 1) -> Array:
    """*numbers* times *factor*, as signed 64-bit numbers; null where one is above *largest*."""
    above = numbers > largest
    return pa.array(
        np.where(above, 0, numbers).astype(np.int64) * factor, mask=above if above.any() else None
    )


def map_column(page: Page, column: Column) -> Array:
    """All fields as a map. If a name occurs twice in an entry, the last one counts."""
    starts, strings = page.fields()
    names, contents = strings[::2], strings[1::2]
    offsets = starts // 2
    kept = last_of_each(names, offsets)
    if kept is not None:
        names, contents = names.filter(kept), contents.filter(kept)
        counts = np.add.reduceat(kept.to_numpy(zero_copy_only=False).astype(np.int32), offsets[:-1])
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return pa.MapArray.from_arrays(
        pa.array(offsets, pa.int32()),
        text_of(names, column.arrow.key_type),
        text_of(contents, column.arrow.item_type),
        type=column.arrow,
    )


def last_of_each(names: Array, offsets: Any) -> Array | None:
    """Which fields are the last of their name in their entry; None if all of them are."""
    sizes = np.diff(offsets)
    entries = np.repeat(np.arange(len(sizes)), sizes)
    codes = names.dictionary_encode().indices.to_numpy().astype(np.int64)
    keys = entries * (int(codes.max(initial=0)) + 1) + codes
    backwards = keys[::-1]
    distinct, first = np.unique(backwards, return_index=True)
    if len(distinct) == len(keys):
        return None
    kept = np.zeros(len(keys), dtype=bool)
    kept[len(keys) - 1 - first] = True
    return pa.array(kept)


def array_column(page: Page, column: Column) -> Array:
    """All fields as an array, in their order, with duplicates."""
    starts, strings = page.fields()
    struct = column.arrow.value_type
    parts = [text_of(strings[i::2], struct.field(i).type) for i in range(2)]
    fields = [struct.field(i) for i in range(2)]
    return pa.ListArray.from_arrays(
        pa.array(starts // 2, pa.int32()),
        pa.StructArray.from_arrays(parts, fields=fields),
        type=column.arrow,
    )


def text_of(strings: Array, kind: Any) -> Array:
    """Strings as binary, or as text with replacement characters for what is not UTF-8."""
    if pa.types.is_binary(kind):
        return strings
    try:
        return strings.cast(kind)
    except pa.ArrowInvalid:
        return pa.array([s.decode("utf-8", "replace") for s in strings.to_pylist()], kind)


def corrupt_column(page: Page, bad: Array | None) -> Array:
    """All fields as JSON for an entry with a bad value, null for the others."""
    if bad is None:
        return pa.nulls(len(page), pa.string())
    starts, strings = page.fields()
    texts = text_of(strings, pa.string()).to_pylist()
    records = [
        json.dumps(dict(zip(texts[a:b:2], texts[a + 1 : b : 2], strict=True))) if is_bad else None
        for a, b, is_bad in zip(starts[:-1], starts[1:], bad.to_pylist(), strict=True)
    ]
    return pa.array(records, pa.string())
