"""Spark's checkpoints of micro-batch queries: which batches were planned, and which are done.

    metadata        {"id": "<query>"}
    offsets/<N>     v1, a line about the batch, then a line for each source: its offset, or "-"
    commits/<N>     batch N is done

Spark plans a batch, runs it, and commits it. A batch that is planned and not committed runs again
when the query starts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pyspark_penstock.errors import CheckpointError
from pyspark_penstock.jobs.files import Files
from pyspark_penstock.jobs.progress import offset_of
from pyspark_penstock.read.offsets import ONLY, FleetOffset, Offset
from pyspark_penstock.shared.group_offsets import SharedOffset

NO_OFFSET = "-"


@dataclass(frozen=True)
class Batch:
    """A planned batch: its time, and the offsets at which our sources end.

    *offsets* are those of one server, *fleets* those of several.
    """

    number: int
    planned_ms: int
    offsets: tuple[Offset, ...]
    fleets: tuple[FleetOffset, ...] = ()
    shared: tuple[SharedOffset, ...] = ()


@dataclass(frozen=True)
class Checkpoint:
    """How far a query is. *planned* is the last batch planned, *committed* the last one done."""

    query: str
    planned: Batch | None
    committed: Batch | None

    @property
    def offsets(self) -> tuple[Offset, ...]:
        """The offsets after the last batch done, for each source that reads ranges."""
        return self.committed.offsets if self.committed else ()

    @property
    def fleets(self) -> tuple[FleetOffset, ...]:
        """These offsets by server, for each source that reads several servers."""
        return self.committed.fleets if self.committed else ()

    @property
    def shared(self) -> tuple[SharedOffset, ...]:
        """The offsets of the last batch done, for each source that shares a group."""
        return self.committed.shared if self.committed else ()


def read_checkpoint(files: Files, folder: str) -> Checkpoint:
    """Read the checkpoint in *folder*. Raises CheckpointError."""
    folder = folder.rstrip("/")
    if "metadata" not in files.names(folder):
        raise CheckpointError(f"{folder!r} is not the checkpoint of a query: it has no metadata")
    planned = last_number(files.names(f"{folder}/offsets"))
    committed = last_number(files.names(f"{folder}/commits"))
    return Checkpoint(
        query=query_id(files, folder),
        planned=read_batch(files, folder, planned),
        committed=read_batch(files, folder, committed),
    )


def query_id(files: Files, folder: str) -> str:
    """The id of the query. Raises CheckpointError for a damaged file."""
    path = f"{folder}/metadata"
    try:
        return str(json.loads(files.text(path))["id"])
    except (KeyError, TypeError, ValueError) as problem:
        raise CheckpointError(
            f"{path!r} is damaged ({type(problem).__name__}: {problem}): restore this file, or "
            "give the query a new checkpoint"
        ) from None


def has_checkpoint(files: Files, folder: str) -> bool:
    """Whether *folder* is the checkpoint of a query."""
    return "metadata" in files.names(folder)


def last_number(names: list[str]) -> int | None:
    """The largest number among the names of a log's files."""
    return max((int(name) for name in names if name.isdecimal()), default=None)


def read_batch(files: Files, folder: str, number: int | None) -> Batch | None:
    """The batch of that number. Raises CheckpointError."""
    if number is None:
        return None
    if str(number) not in files.names(f"{folder}/offsets"):
        raise CheckpointError(f"{folder!r} is damaged: batch {number} is done, but has no offsets")
    return parse_batch(number, files.text(f"{folder}/offsets/{number}"))


def parse_batch(number: int, text: str) -> Batch:
    """Parse a file of ``offsets``. Raises CheckpointError."""
    version, *lines = text.split("\n")
    if version != "v1" or not lines:
        raise CheckpointError(f"batch {number}: its offsets are of version {version!r}, not v1")
    try:
        about: dict[str, Any] = json.loads(lines[0])
        planned_ms = int(about.get("batchTimestampMs", 0))
        found = [json.loads(line) for line in lines[1:] if line not in {NO_OFFSET, ""}]
        ours = [offset for offset in map(offset_of, found) if offset is not None]
        return Batch(
            number, planned_ms,
            offsets=tuple(offset.part(ONLY) for offset in ours if ONLY in offset.servers),
            fleets=tuple(offset for offset in ours if ONLY not in offset.servers),
            shared=tuple(shared_in(found)),
        )  # fmt: skip
    except (AttributeError, TypeError, ValueError) as problem:
        raise CheckpointError(f"batch {number}: its offsets are damaged: {problem}") from None


def shared_in(values: list[Any]) -> Iterator[SharedOffset]:
    """The offsets of our sources that share a group."""
    for value in values:
        with suppress(CheckpointError):
            yield SharedOffset.from_json(value)
