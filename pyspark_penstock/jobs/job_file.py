"""Job files: a live pipeline in TOML.

    checkpoint = "/var/lib/penstock/per-minute"

    [server]                            # options of all our sources and sinks
    "bootstrap.servers" = "127.0.0.1:6379"

    [source.requests]                   # a table in the SQL, under this name
    subscribe = "requests"
    schema = "path string, status int, _ts timestamp"
    watermark = "10 seconds"            # how late an entry may come, by _ts

    [sql]
    text = "SELECT window(_ts, '1 minute').start AS at, status, count(*) AS n ... GROUP BY ..."

    [sink]
    stream = "per-minute"

    [trigger]
    every = "5 seconds"

Instead of ``[sql]`` there may be ``python = "module:function"``. The function gets the sources as
data frames, by name, and returns the one to write. All other keys of a source or sink are options.
"""

from __future__ import annotations

import difflib
import json
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark_penstock.jobs.failures import UsageError
from pyspark_penstock.jobs.server_options import names_server, overridden, with_environment

FORMAT = "penstock"
SECTIONS = (
    "name", "checkpoint", "python", "server", "source", "sql", "sink", "trigger", "spark",
)  # fmt: skip
OUTPUT_MODES = ("append", "update", "complete")

Table = Mapping[str, Any]


@dataclass(frozen=True)
class Source:
    """A table of the job. A *static* one is read once, the others are streaming."""

    name: str
    options: Mapping[str, str]
    format: str = FORMAT
    schema: str = ""
    static: bool = False
    watermark: str = ""
    watermark_column: str = ""


@dataclass(frozen=True)
class Sink:
    """Where the result is written."""

    options: Mapping[str, str]
    format: str = FORMAT
    output_mode: str = "append"
    partition_by: tuple[str, ...] = ()


@dataclass(frozen=True)
class PipelineJob:
    """A job file. Either *sql* or *python* is set.

    Without *every*, batches follow each other at once.
    """

    name: str
    folder: Path
    checkpoint: str
    sources: tuple[Source, ...]
    sink: Sink
    server: Mapping[str, str]
    sql: str = ""
    python: str = ""
    every: str = ""
    once: bool = False
    spark: Mapping[str, str] = field(default_factory=dict)


def read_job(path: Path, server: Mapping[str, str] | None = None) -> PipelineJob:
    """Read a job file; *server* overrides its section of that name. Raises UsageError."""
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as problem:
        raise UsageError(f"{path}: {problem}") from None
    try:
        return job_of(data, path, server or {})
    except UsageError as problem:
        raise UsageError(f"{path}: {problem}") from None


def job_of(data: Table, path: Path, server: Mapping[str, str]) -> PipelineJob:
    """The job in a parsed file. Raises UsageError."""
    refuse_unknown("the file", data, SECTIONS)
    own = options_of(section(data, "server"))
    shared = with_environment(overridden(own, server))
    trigger = section(data, "trigger")
    refuse_unknown("[trigger]", trigger, ("every", "once"))
    every, once = text(trigger, "every"), flag(trigger, "once", "[trigger]")
    if every and once:
        raise UsageError("[trigger]: 'every' and 'once' contradict each other: give one")
    sql, python = section(data, "sql"), text(data, "python")
    refuse_unknown("[sql]", sql, ("text",))
    if bool(sql) == bool(python):
        raise UsageError("give either [sql] with its text, or python = 'module:function'")
    return PipelineJob(
        name=text(data, "name") or path.stem,
        folder=path.parent.resolve(),
        checkpoint=required(data, "checkpoint", "the file"),
        sources=sources_of(section(data, "source"), shared),
        sink=sink_of(section(data, "sink"), shared),
        server=shared,
        sql=required(sql, "text", "[sql]") if sql else "",
        python=python,
        every=every,
        once=once,
        spark=options_of(section(data, "spark")),
    )


def sources_of(tables: Table, server: Mapping[str, str]) -> tuple[Source, ...]:
    """All sources. Raises UsageError if none of them is streaming."""
    sources = tuple(source_of(name, section(tables, name), server) for name in tables)
    if not any(not source.static for source in sources):
        raise UsageError("no [source.NAME] that is not static: nothing to wait for")
    return sources


def source_of(name: str, table: Table, server: Mapping[str, str]) -> Source:
    """One source."""
    own = ("format", "schema", "static", "watermark", "watermarkColumn")
    kind, schema = text(table, "format") or FORMAT, text(table, "schema")
    return Source(
        name=name,
        options=with_server(kind, options_of(table, own), server),
        format=kind,
        schema=schema,
        static=flag(table, "static", f"[source.{name}]"),
        watermark=text(table, "watermark"),
        watermark_column=text(table, "watermarkColumn") or ("_ts" if schema else "timestamp"),
    )


def sink_of(table: Table, server: Mapping[str, str]) -> Sink:
    """The sink."""
    if not table:
        raise UsageError("[sink] is missing: where do the rows go?")
    own = ("format", "outputMode", "partitionBy")
    kind, mode = text(table, "format") or FORMAT, text(table, "outputMode") or "append"
    if mode not in OUTPUT_MODES:
        raise UsageError(f"[sink]: outputMode is one of {', '.join(OUTPUT_MODES)}, not {mode!r}")
    if kind == FORMAT and mode != "append":
        raise UsageError(f"[sink]: a stream is only appended to, so outputMode={mode!r} cannot be")
    return Sink(
        options=with_server(kind, options_of(table, own), server),
        format=kind,
        output_mode=mode,
        partition_by=names(table, "partitionBy", "[sink]"),
    )


def with_server(
    kind: str, options: Mapping[str, str], server: Mapping[str, str]
) -> Mapping[str, str]:
    """The options with those of the server, if they do not name a server themselves."""
    return {**server, **options} if kind == FORMAT and not names_server(options) else options


def options_of(table: Table, but: Iterable[str] = ()) -> dict[str, str]:
    """The entries of a table as Spark's options, which are text."""
    return {name: option(value) for name, value in table.items() if name not in set(but)}


def option(value: Any) -> str:
    """A TOML value as an option: a list with commas, a table as JSON."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ",".join(map(option, value))
    return json.dumps(value) if isinstance(value, dict) else str(value)


def section(data: Table, name: str) -> Table:
    """The table *name*; an empty one if there is none. Raises UsageError."""
    value = data.get(name, {})
    if not isinstance(value, dict):
        raise UsageError(f"{name!r} must be a section: [{name}]")
    return value


def text(data: Table, name: str) -> str:
    """The text *name*; empty if there is none. Raises UsageError."""
    value = data.get(name, "")
    if not isinstance(value, str):
        raise UsageError(f"{name!r} must be a text in quotes")
    return value


def flag(data: Table, name: str, where: str) -> bool:
    """The boolean *name*; false if there is none. Raises UsageError."""
    value = data.get(name, False)
    if not isinstance(value, bool):
        raise UsageError(f"{where}: {name!r} must be true or false, without quotes")
    return value


def names(data: Table, name: str, where: str) -> tuple[str, ...]:
    """The list of texts *name*, which may be a single text; empty if there is none.

    Raises UsageError.
    """
    value = data.get(name, [])
    found = value if isinstance(value, list) else [value]
    if not all(isinstance(one, str) for one in found):
        raise UsageError(f"{where}: {name!r} must be a list of texts in quotes")
    return tuple(found)


def required(data: Table, name: str, where: str) -> str:
    """The text *name*. Raises UsageError if there is none."""
    value = text(data, name)
    if not value:
        raise UsageError(f"{where} lacks {name!r}")
    return value


def refuse_unknown(where: str, table: Table, known: Iterable[str]) -> None:
    """Raises UsageError for an unknown name, with the nearest known one."""
    for name in table:
        if name not in set(known):
            close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise UsageError(f"{where} has {name!r}, which means nothing{hint}")
