"""The options of ``spark.read`` with a *path*: which files, which streams of them, which part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark_penstock.errors import OptionError
from pyspark_penstock.options import BATCH_READING, READING, Options
from pyspark_penstock.read import bounds
from pyspark_penstock.read.bounds import Bounds
from pyspark_penstock.read.source_options import (
    ABOUT_ENTRIES,
    ENTRIES,
    ReadOptions,
    check_endings,
    common,
)

PATH = "path"
KEYS, GROUPS = "keys", "groups"
FAIL, SKIP = "fail", "skip"
DUMPS = ("badFiles", "db")
NOT_HERE = frozenset(
    {
        "failOnUnreachable", "failOnDataLoss", "fetchSize", "inferSchema", "includeMetadata",
        "maxRecordsPerPartition", "pushDownFilters",
    }
)  # fmt: skip
TAKEN = [name for name in (*READING, *BATCH_READING, *DUMPS) if name not in NOT_HERE]


@dataclass(frozen=True)
class DumpOptions:
    """The options of reading dumps. *db* is None for all databases."""

    path: str
    view: str
    read: ReadOptions
    ending: Bounds
    skips_bad_files: bool
    db: int | None


def is_of_dumps(given: Mapping[str, str]) -> bool:
    """Whether files are read."""
    return bool(path_of(given))


def path_of(given: Mapping[str, str]) -> str:
    """The option *path*."""
    return next((value for name, value in given.items() if name.lower() == PATH), "")


def dump_options(given: Mapping[str, str]) -> DumpOptions:
    """The options of reading dumps. Raises OptionError."""
    options = Options(given, "reading dumps", TAKEN)
    view = options.choice("view", ENTRIES, KEYS, GROUPS)
    if view != ENTRIES:
        others = set(ABOUT_ENTRIES) - {"minPartitions"}
        options.refuse(sorted(others), f"is about entries, and contradicts view={view}")
    read = ReadOptions(**common(options, bounds.EARLIEST, required=False))
    ending = bounds.ending_bounds(options)
    check_endings(options, ending, read.subscription)
    bad = options.choice("badFiles", FAIL, SKIP)
    return DumpOptions(
        path=path_of(given),
        view=view,
        read=read,
        ending=ending,
        skips_bad_files=bad == SKIP,
        db=options.integer("db", 0) if "db" in options or view != KEYS else None,
    )


def refuse_streaming(given: Mapping[str, str]) -> None:
    """Raises OptionError for ``readStream`` with a *path*: no file grows as a stream does."""
    if is_of_dumps(given):
        raise OptionError("'path' is for spark.read: dumps are read by a batch, not as they grow")
