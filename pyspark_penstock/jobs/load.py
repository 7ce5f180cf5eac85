"""Loading: writes files to a stream, one entry for each row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql import types as t

from pyspark_penstock.connect.stream_info import stream_state
from pyspark_penstock.errors import OptionError
from pyspark_penstock.jobs.failures import JobError
from pyspark_penstock.jobs.server_options import ServerOptions, connect
from pyspark_penstock.write.sink_options import ORDERED

FORMATS = {
    ".parquet": "parquet", ".csv": "csv", ".json": "json", ".jsonl": "json", ".ndjson": "json",
    ".orc": "orc", ".txt": "text", ".log": "text",
}  # fmt: skip
PACKED = {".gz", ".bz2", ".zst", ".lz4", ".snappy"}
BROKEN = "MALFORMED_RECORD"
FILE = re.compile(r"reading file (\S+)\. ")
NESTED = (t.StructType, t.ArrayType, t.MapType)


@dataclass(frozen=True)
class LoadJob:
    """Files to load.

    If *format* is empty, the names of the files decide. *columns* maps columns to fields, and
    leaves out all others; if it is empty, all columns are fields. *id_column* holds the ids of the
    entries, which are then written in this order. *reading* are options of Spark's reader,
    *writing* of the sink.
    """

    files: tuple[str, ...]
    stream: str
    server: ServerOptions = field(default_factory=dict)
    format: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    id_column: str = ""
    schema: str = ""
    reading: Mapping[str, str] = field(default_factory=dict)
    writing: Mapping[str, str] = field(default_factory=dict)


def load(spark: SparkSession, job: LoadJob) -> int:
    """Write all rows. Returns how many entries were added to the stream.

    Raises OptionError, SinkError, JobError for a broken line.
    """
    with broken_lines_named(job), connect(job.server) as client:
        rows = in_order(entries_of(read_files(spark, job), job), job)
        before = stream_state(client, job.stream).added
        writer = rows.write.format("penstock").options(**job.server, **job.writing)
        writer.option("stream", job.stream).mode("append").save()
        return stream_state(client, job.stream).added - before


@contextmanager
def broken_lines_named(job: LoadJob) -> Iterator[None]:
    """Raises JobError, with the file, for a broken line.

    Spark's error has the file deep in Java's stack.
    """
    try:
        yield
    except Py4JJavaError as problem:
        text = str(problem)
        if BROKEN not in text:
            raise
        file = FILE.search(text)
        where = file[1] if file else ", ".join(job.files)
        raise JobError(
            f"{where} has a broken line; the reader's option mode=PERMISSIVE takes what there is "
            "of it, DROPMALFORMED leaves it out"
        ) from problem


def read_files(spark: SparkSession, job: LoadJob) -> DataFrame:
    """The rows of the files. CSV has a header unless *reading* says otherwise.

    A broken line ends the load. By default Spark would make it a row of nulls, or of the one column
    ``_corrupt_record``.
    """
    reader = spark.read.format(job.format or format_of(job.files))
    reader = reader.options(**{"header": "true", "mode": "FAILFAST", **job.reading})
    if job.schema:
        reader = reader.schema(job.schema)
    return reader.load(list(job.files))


def format_of(files: tuple[str, ...]) -> str:
    """The format by the files' names. Raises OptionError if they say none, or several."""
    suffixes = {suffix_of(name) for name in files}
    formats = {FORMATS.get(suffix, "") for suffix in suffixes}
    if len(formats) != 1 or "" in formats:
        names = ", ".join(sorted(suffixes))
        raise OptionError(f"files named {names!r} do not tell one format: give --format")
    return formats.pop()


def suffix_of(name: str) -> str:
    """The suffix for the format; a suffix for compression may follow it."""
    path = PurePosixPath(name.rstrip("/"))
    return PurePosixPath(path.stem).suffix if path.suffix in PACKED else path.suffix


def entries_of(rows: DataFrame, job: LoadJob) -> DataFrame:
    """The columns as fields. Structs, arrays and maps become JSON. Raises OptionError."""
    wanted = dict(job.columns) or {name: name for name in rows.columns if name != job.id_column}
    missing = [name for name in (*wanted, job.id_column) if name and name not in rows.columns]
    if missing:
        known = ", ".join(rows.columns)
        raise OptionError(f"the files have no column {missing[0]!r}; they have {known}")
    columns = [value_of(rows, name).alias(as_field) for name, as_field in wanted.items()]
    if job.id_column:
        columns.append(quoted(job.id_column).cast("string").alias("_id"))
    return rows.select(*columns)


def in_order(rows: DataFrame, job: LoadJob) -> DataFrame:
    """The rows, in one task if only one may write the stream, and sorted by id if there are ids."""
    if job.id_column:
        ms_seq = f.split("_id", "-")
        numbers = [f.get(ms_seq, part).try_cast("decimal(20)") for part in range(2)]
        return rows.coalesce(1).sortWithinPartitions(*numbers)
    return rows.coalesce(1) if job.writing.get("delivery") == ORDERED else rows


def value_of(rows: DataFrame, name: str) -> Column:
    """A column in a form that a field can hold."""
    nested = isinstance(rows.schema[name].dataType, NESTED)
    return f.to_json(quoted(name)) if nested else quoted(name)


def quoted(name: str) -> Column:
    """A column by its whole name, dots included."""
    return f.col(f"`{name.replace('`', '``')}`")
