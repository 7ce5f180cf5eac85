"""From pages to record batches: each column of the schema is built from a whole page."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pyspark_penstock.errors import ValueMismatchError
from pyspark_penstock.names import utf8
from pyspark_penstock.read import cast_columns
from pyspark_penstock.read.page import Page
from pyspark_penstock.schema import Column, Meaning, arrow_schema

PERMISSIVE, FAILFAST, DROPMALFORMED = MODES = ("PERMISSIVE", "FAILFAST", "DROPMALFORMED")
LARGEST_MS_AS_TIME = (1 << 63) // 1_000 - 1
LARGEST_LONG = (1 << 63) - 1

logger = logging.getLogger(__name__)
Array = Any  # a pyarrow.Array


class BatchBuilder:
    """Builds the record batches of one stream. *mode* says what happens to bad values."""

    def __init__(self, stream: str, columns: Sequence[Column], mode: str) -> None:
        self.bad_values = 0
        self._stream = stream
        self._columns = columns
        self._mode = mode
        self._schema = arrow_schema(columns)
        self._builders: dict[Meaning, Callable[[Page, Column], Array]] = {
            Meaning.STREAM: self._stream_column,
            Meaning.ID: id_column,
            Meaning.TIME: time_column,
            Meaning.MS: ms_column,
            Meaning.SEQ: seq_column,
            Meaning.MAP: map_column,
            Meaning.ARRAY: array_column,
        }

    def batch(self, page: Page) -> Any:
        """The record batch of *page*. Raises ValueMismatchError."""
        arrays: dict[str, Array] = {}
        bad = None
        for column in self._columns:
            if column.meaning is Meaning.FIELD:
                arrays[column.name], wrong = self._field(page, column)
                if wrong is not None:
                    bad = wrong if bad is None else pc.or_(bad, wrong)
            elif column.meaning is not Meaning.CORRUPT:
                arrays[column.name] = self._builders[column.meaning](page, column)
        for column in self._columns:
            if column.meaning is Meaning.CORRUPT:
                arrays[column.name] = corrupt_column(page, bad)
        ordered = [arrays[column.name] for column in self._columns]
        batch = pa.RecordBatch.from_arrays(ordered, schema=self._schema)
        kept = None if bad is None or self._mode != DROPMALFORMED else pc.invert(bad)
        if kept is not None:
            batch = batch.filter(kept)
        self._refuse_nulls(batch, page, kept)
        return batch

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
        where = f"stream {self._stream!r}, entry {page.ids[at].as_py().decode()}"
        what = f"{column.name}={found[at].as_py()!r} is not {column.arrow}"
        if self._mode == FAILFAST:
            raise ValueMismatchError(f"{where}: {what}")
        if not self.bad_values:
            logger.warning("%s: %s; it and others like it are null", where, what)
        self.bad_values += pc.sum(bad).as_py()

    def _refuse_nulls(self, batch: Any, page: Page, kept: Array | None) -> None:
        """Raises ValueMismatchError for null in a NOT NULL column.

        Java would too, but without the entry.
        """
        for column, array in zip(self._columns, batch.columns, strict=True):
            if not column.nullable and array.null_count:
                ids = page.ids if kept is None else page.ids.filter(kept)
                entry = ids[pc.index(pc.is_null(array), True).as_py()].as_py().decode()
                raise ValueMismatchError(
                    f"stream {self._stream!r}, entry {entry}: the column {column.name!r} is "
                    f"NOT NULL, and there is no {column.arrow} for it"
                )

    def _stream_column(self, page: Page, _: Column) -> Array:
        return pa.repeat(pa.scalar(utf8(self._stream), pa.string()), len(page))


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
