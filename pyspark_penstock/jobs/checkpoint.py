"""Checkpoints, as Spark's micro-batches keep them: what was planned, and what was done.

    metadata        {"id": "<query>"}
    offsets/<N>     v1, a line about the batch, then a line a source with its offset, or "-"
    commits/<N>     batch N is done

A batch is planned before it runs and committed after its rows are written. One that is planned and
not committed will be run again when the query starts.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from pyspark_penstock.errors import CheckpointError
from pyspark_penstock.jobs.files import Files
from pyspark_penstock.jobs.progress import offset_of
from pyspark_penstock.offsets import Offset

NO_OFFSET = "-"


@dataclass(frozen=True)
class Batch:
    """A batch that was planned: when, and where its sources end."""

    number: int
    planned_ms: int
    offsets: tuple[Offset, ...]


@dataclass(frozen=True)
class Checkpoint:
    """How far a query has come; *planned* is the last batch, *committed* the last that is done."""

    query: str
    planned: Batch | None
    committed: Batch | None

    @property
    def offsets(self) -> tuple[Offset, ...]:
        """What is done, for each of our sources."""
        return self.committed.offsets if self.committed else ()


def read_checkpoint(files: Files, folder: str) -> Checkpoint:
    """The state of the query whose checkpoint is *folder*. Raises CheckpointError."""
    folder = folder.rstrip("/")
    if "metadata" not in files.names(folder):
        raise CheckpointError(f"{folder!r} is not the checkpoint of a query: it has no metadata")
    planned = last_number(files.names(f"{folder}/offsets"))
    committed = last_number(files.names(f"{folder}/commits"))
    return Checkpoint(
        query=json.loads(files.text(f"{folder}/metadata"))["id"],
        planned=read_batch(files, folder, planned),
        committed=read_batch(files, folder, committed),
    )


def has_checkpoint(files: Files, folder: str) -> bool:
    """Whether a query has ever kept its state in *folder*."""
    return "metadata" in files.names(folder)


def last_number(names: list[str]) -> int | None:
    """The largest batch among the files of a log."""
    return max((int(name) for name in names if name.isdecimal()), default=None)


def read_batch(files: Files, folder: str, number: int | None) -> Batch | None:
    """The batch of that number, as it was planned."""
    if number is None:
        return None
    return parse_batch(number, files.text(f"{folder}/offsets/{number}"))


def parse_batch(number: int, text: str) -> Batch:
    """The batch that a file of ``offsets`` describes. Raises CheckpointError."""
    version, *lines = text.split("\n")
    if version != "v1" or not lines:
        raise CheckpointError(f"batch {number}: its offsets are of version {version!r}, not v1")
    try:
        about: dict[str, Any] = json.loads(lines[0])
        found = [offset_of(json.loads(line)) for line in lines[1:] if line not in {NO_OFFSET, ""}]
    except ValueError as problem:
        raise CheckpointError(f"batch {number}: its offsets are damaged: {problem}") from None
    offsets = tuple(offset for offset in found if offset is not None)
    return Batch(number, about.get("batchTimestampMs", 0), offsets)
