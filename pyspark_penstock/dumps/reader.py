"""Batch reads of dumps: files to tasks, keys to rows.

    driver   path -> files; each file -> as many equal spans of its bytes as tasks fall to it
    task     reads the file up to the end of its span, keeps the keys that begin in the span
             a stream that lies in several spans is shared out by its nodes, in proportion

Every task of a file walks over what lies before its span: to check an entry costs a seventh of what
it costs to make a row of it. So four tasks share one file at about three times the speed of one,
and no more than one key is held at a time. The task of the last span compares the checksum. With
``badFiles=skip`` each task reads its file to the end first, and yields nothing of a bad one.

Keys that had expired when the read was planned are left out, as a server does when it loads the
file. A replay of a task leaves out the same.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import types as t
from pyspark.sql.datasource import DataSourceReader, InputPartition

from pyspark_penstock import schema as schemas
from pyspark_penstock.connect.stream_info import GroupState
from pyspark_penstock.dumps.dump_files import files_of, readable_file
from pyspark_penstock.dumps.dump_options import GROUPS, KEYS, SKIP, DumpOptions
from pyspark_penstock.dumps.stored import Dump, Kept, matches
from pyspark_penstock.entry_id import LAST, EntryId
from pyspark_penstock.errors import DumpError, OptionError
from pyspark_penstock.names import text, utf8
from pyspark_penstock.read import bounds
from pyspark_penstock.read.bounds import Bounds, Kind
from pyspark_penstock.read.entry_reader import batches
from pyspark_penstock.read.page import Page, parse
from pyspark_penstock.schema import Column, columns_of

FILE = "_file"
STREAM = "stream"
LARGE = 16 << 20  # bytes; a smaller file is read by one task
ROWS = 1_000  # of a view, in a record batch ...
BYTES = 4 << 20  # ... or so much text
TEXT, COUNT, TIME = t.StringType(), t.LongType(), t.TimestampType()
VIEWS = {
    KEYS: t.StructType()
    .add("db", COUNT)
    .add("key", TEXT)
    .add("type", TEXT)
    .add("value", TEXT)
    .add("bytes", t.BinaryType())
    .add("expires", TIME)
    .add(FILE, TEXT),
    GROUPS: t.StructType()
    .add("stream", TEXT)
    .add("group", TEXT)
    .add("consumers", COUNT)
    .add("pending", COUNT)
    .add("last_delivered_id", TEXT)
    .add(FILE, TEXT),
}

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Span:
    """What one task reads: of *file*, what begins at the offsets from *start* up to *end*.

    The last span of a file has no *end*.
    """

    file: str
    start: int
    end: int | None
    now_ms: int

    def share(self, kept: Kept, nodes: int) -> tuple[int, int]:
        """Which nodes of a stream, of so many, are the task's: those that begin in the span."""

        def first_at(offset: int) -> int:
            return -(-(offset - kept.at) * nodes // (kept.end - kept.at))

        first = min(max(first_at(self.start), 0), nodes)
        return first, nodes if self.end is None else min(max(first_at(self.end), first), nodes)


class DumpReader(DataSourceReader):
    """The reader of ``spark.read`` with a *path*."""

    def __init__(self, options: DumpOptions, schema: t.StructType) -> None:
        self._options = options
        self._names = schema.names
        self._columns: list[Column] = []
        if options.view in VIEWS:
            check_view(options.view, schema)
        else:
            fields = t.StructType([field for field in schema if field.name != FILE])
            self._columns = columns_of(fields, options.read.corrupt_column)

    def partitions(self) -> Sequence[InputPartition]:
        """The spans of all files. Raises OptionError if there is no file."""
        now_ms = time.time_ns() // 1_000_000
        files = files_of(self._options.path)
        total = sum(os.path.getsize(file) for file in files if os.path.isfile(file))
        return [
            InputPartition(span)
            for file in files
            for span in spans_of(file, now_ms, total, self._options.read.min_partitions)
        ]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """The rows of a task."""
        span: Span = partition.value
        try:
            with readable_file(span.file) as path, Dump(path) as dump:
                if self._options.skips_bad_files:
                    dump.check()
                yield from self._rows(dump, span)
        except DumpError as error:
            if not self._options.skips_bad_files:
                raise DumpError(f"{error}; badFiles={SKIP} would leave the file out") from None
            logger.warning("%s; the file is left out", error)

    def _rows(self, dump: Dump, span: Span) -> Iterator[Any]:
        if self._options.view in VIEWS:
            yield from self._view(self._keys(dump, span), span)
            return
        for kept in self._keys(dump, span):
            if kept.type == STREAM and self._is_wanted(kept):
                name = text(kept.key)
                pages = self._pages(kept, name, span)
                for batch in batches(pages, name, self._columns, self._options.read):
                    yield with_file(batch, self._names, span.file)

    def _keys(self, dump: Dump, span: Span) -> Iterator[Kept]:
        """The keys that a task has to do with, and that had not expired."""
        db = self._options.db
        for kept in dump.keys(before=span.end):
            lives = kept.expiry_ms is None or kept.expiry_ms > span.now_ms
            if kept.end > span.start and lives and (db is None or kept.db == db):
                yield kept

    def _is_wanted(self, kept: Kept) -> bool:
        subscription = self._options.read.subscription
        if subscription.pattern:
            return matches(subscription.pattern, kept.key)
        return text(kept.key) in subscription.streams

    def _pages(self, kept: Kept, name: str, span: Span) -> Iterator[Page]:
        """What is to be read of a stream, as far as it is the task's."""
        options = self._options
        nodes = kept.node_ids()
        first, behind = span.share(kept, len(nodes))
        if first == behind:
            return
        after = start_of(kept, name, options.read.starting)
        upto = end_of(kept, name, options.ending)
        after = max(after, nodes[first].previous())
        upto = min(upto, nodes[behind].previous() if behind < len(nodes) else LAST)
        if after < upto:
            yield from map(parse, kept.pages(after, upto))

    def _view(self, keys: Iterator[Kept], span: Span) -> Iterator[Any]:
        """A view's rows, as record batches. A key belongs to the span in which it begins."""
        rows: list[tuple[Any, ...]] = []
        size = 0
        for kept in keys:
            if kept.at < span.start:
                continue
            if self._options.view == KEYS:
                rows.append(row := (*key_row(kept), span.file))
                size += len(row[3] or "") + len(row[4] or b"")
            elif kept.type == STREAM and self._is_wanted(kept):
                rows += [(*row, span.file) for row in group_rows(kept)]
            if len(rows) >= ROWS or size >= BYTES:
                yield self._view_batch(rows)
                rows, size = [], 0
        if rows:
            yield self._view_batch(rows)

    def _view_batch(self, rows: list[tuple[Any, ...]]) -> Any:
        kinds = [schemas.arrow_type(f.name, f.dataType) for f in VIEWS[self._options.view]]
        names = VIEWS[self._options.view].names
        arrays = [pa.array(c, kind) for c, kind in zip(zip(*rows, strict=True), kinds, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, names=names).select(self._names)


def spans_of(file: str, now_ms: int, total: int, tasks: int) -> list[Span]:
    """The spans of *file*: its share of *tasks*, if it is large and one can begin in its middle."""
    if not os.path.isfile(file):
        return [Span(file, 0, None, now_ms)]
    size = os.path.getsize(file)
    parts = max(1, min(tasks * size // max(total, 1), -(-size // LARGE)))
    cuts = [size * part // parts for part in range(parts)]
    return [Span(file, a, b, now_ms) for a, b in zip(cuts, [*cuts[1:], None], strict=True)]


def default_schema(options: DumpOptions) -> t.StructType:
    """The schema if the user gives none: that of entries from a server, and the file."""
    if options.view in VIEWS:
        return VIEWS[options.view]
    fields = schemas.fields_type(options.read.value_format, options.read.fields_format)
    return schemas.raw_schema(fields).add(FILE, TEXT)


def check_view(view: str, schema: t.StructType) -> None:
    """Raises OptionError for a column that the view does not have."""
    for field in schema:
        if field.name not in VIEWS[view].names or VIEWS[view][field.name] != field:
            raise OptionError(f"view={view}: it has no column {field.name!r} of that type")


def with_file(batch: Any, names: Sequence[str], file: str) -> Any:
    """*batch* with the column ``_file``, if it is wanted."""
    if FILE not in names:
        return batch
    files = pa.repeat(pa.scalar(utf8(file), pa.string()), len(batch))
    return batch.append_column(pa.field(FILE, pa.string()), files).select(list(names))


def start_of(kept: Kept, name: str, starting: Bounds) -> EntryId:
    """The id after which reading of a stream starts. Raises OptionError."""
    bound = starting.of(name)
    if bound.kind is Kind.GROUP:
        return position_of(kept, name, bound.group)
    return bounds.resolve_start(no_groups, name, kept.state(), starting)


def end_of(kept: Kept, name: str, ending: Bounds) -> EntryId:
    """The last id that is read of a stream. Raises OptionError."""
    bound = ending.of(name)
    if bound.kind is Kind.GROUP:
        return position_of(kept, name, bound.group)
    return bounds.resolve_end(no_groups, name, kept.state(), ending)


def position_of(kept: Kept, name: str, group: str) -> EntryId:
    """The last id delivered to a group, as the dump has it. Raises OptionError."""
    found = kept.group_position(group.encode("utf-8", "surrogateescape"))
    if found is None:
        raise OptionError(f"stream {name!r} has no group {group!r} to start or end at")
    return found


def key_row(kept: Kept) -> tuple[Any, ...]:
    """A key as db, key, type, value (JSON; null for a stream), bytes of a string, expiry in us."""
    value = None if kept.type == STREAM else kept.value()
    raw = value if isinstance(value, bytes) else None
    shown = None if value is None else json.dumps(in_json(value), ensure_ascii=False)
    expires = None if kept.expiry_ms is None else kept.expiry_ms * 1_000
    return kept.db, utf8(text(kept.key)), kept.type, shown, raw, expires


def in_json(value: Any) -> Any:
    """A value as JSON has it: what is not UTF-8 becomes replacement characters.

    Of two names that become the same, the last one counts. Infinite scores are texts.
    """
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, dict):
        return {in_json(name): in_json(item) for name, item in value.items()}
    if isinstance(value, list):
        return [in_json(item) for item in value]
    return value if value - value == 0 else str(value)


def group_rows(kept: Kept) -> Iterator[tuple[Any, ...]]:
    """The groups of a stream."""
    for name, consumers, pending, last in kept.groups():
        yield utf8(text(kept.key)), utf8(text(name)), consumers, pending, str(last)


def no_groups(_: str) -> list[GroupState]:
    """What a server would be asked for; positions of groups are looked up in the dump."""
    return []
