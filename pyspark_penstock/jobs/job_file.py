"""Job files: a live pipeline, written as TOML.

    checkpoint = "/var/lib/penstock/per-minute"

    [server]                            # options for all sources and sinks of streams
    "bootstrap.servers" = "127.0.0.1:6379"

    [source.requests]                   # a table of the SQL, by this name
    subscribe = "requests"
    schema = "path string, status int, _ts timestamp"
    watermark = "10 seconds"            # how late an entry may come, by _ts

    [sql]
    text = "SELECT window(_ts, '1 minute').start AS at, status, count(*) AS n ... GROUP BY ..."

    [sink]
    stream = "per-minute"

    [trigger]
    every = "5 seconds"

Instead of ``[sql]`` there may be ``python = "module:function"``; the function gets the sources as
data frames, by name, and returns the one to write. What a section does not name itself is an
option of the source or sink.
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
    """A table of the job; *static* ones are read once, the others for ever."""

    name: str
    options: Mapping[str, str]
    format: str = FORMAT
    schema: str = ""
    static: bool = False
    watermark: str = ""
    watermark_column: str = ""


@dataclass(frozen=True)
class Sink:
    """Where the rows go."""

    options: Mapping[str, str]
    format: str = FORMAT
    output_mode: str = "append"
    partition_by: tuple[str, ...] = ()


@dataclass(frozen=True)
class PipelineJob:
    """A whole job file. Either *sql* or *python* is set; without *every* batches do not wait."""

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
    """The job of a file; what *server* says wins over its own section. Raises UsageError."""
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as problem:
        raise UsageError(f"{path}: {problem}") from None
    try:
        return job_of(data, path, server or {})
    except UsageError as problem:
        raise UsageError(f"{path}: {problem}") from None


def job_of(data: Table, path: Path, server: Mapping[str, str]) -> PipelineJob:
    """The job that a parsed file describes. Raises UsageError."""
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
    """All sources; at least one has to be read for ever."""
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
    """The options of a source or sink, with those of the server unless it names its own."""
    return {**server, **options} if kind == FORMAT and not names_server(options) else options


def options_of(table: Table, but: Iterable[str] = ()) -> dict[str, str]:
    """The entries of a table as Spark has options: all text."""
    return {name: option(value) for name, value in table.items() if name not in set(but)}


def option(value: Any) -> str:
    """A value of TOML as an option: lists by comma, tables as JSON."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ",".join(map(option, value))
    return json.dumps(value) if isinstance(value, dict) else str(value)


def section(data: Table, name: str) -> Table:
    """A table by its name; an empty one if it is not there."""
    value = data.get(name, {})
    if not isinstance(value, dict):
        raise UsageError(f"{name!r} must be a section: [{name}]")
    return value


def text(data: Table, name: str) -> str:
    """A text by its name; the empty one if it is not there."""
    value = data.get(name, "")
    if not isinstance(value, str):
        raise UsageError(f"{name!r} must be a text in quotes")
    return value


def flag(data: Table, name: str, where: str) -> bool:
    """True or false by its name; false if it is not there."""
    value = data.get(name, False)
    if not isinstance(value, bool):
        raise UsageError(f"{where}: {name!r} must be true or false, without quotes")
    return value


def names(data: Table, name: str, where: str) -> tuple[str, ...]:
    """A list of texts by its name, of which one may stand alone; none if it is not there."""
    value = data.get(name, [])
    found = value if isinstance(value, list) else [value]
    if not all(isinstance(one, str) for one in found):
        raise UsageError(f"{where}: {name!r} must be a list of texts in quotes")
    return tuple(found)


def required(data: Table, name: str, where: str) -> str:
    """A text that has to be there."""
    value = text(data, name)
    if not value:
        raise UsageError(f"{where} lacks {name!r}")
    return value


def refuse_unknown(where: str, table: Table, known: Iterable[str]) -> None:
    """Raises UsageError for a name that means nothing, with the nearest that does."""
    for name in table:
        if name not in set(known):
            close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise UsageError(f"{where} has {name!r}, which means nothing{hint}")
