"""What a batch has written, from the commit messages of its tasks: for people, and for ``status``.

    <checkpoint>/penstock-sink.json    {"batch": 17, "streams": 3,
                                        "last": {"rows_written": 2600, ...},
                                        "all": {"rows_written": 81200, ...}}

The file is written if the checkpoint is a folder of this machine, which is the driver's. *all* is
the sum of all batches since the file is there. A batch that is committed again counts once in it.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from pyspark_penstock.errors import CheckpointError
from pyspark_penstock.figures import (
    BYTES_WRITTEN,
    ROWS_REPEATED,
    ROWS_WRITTEN,
    WRITE_RETRIES,
    Place,
    Sums,
)
from pyspark_penstock.local_paths import is_local, path_of

FILE = "penstock-sink.json"
LARGEST = 1 << 20  # of the file: a foreign one must not fill the driver's memory

logger = logging.getLogger(__name__)

Totals = dict[str, float]


class Message(Protocol):
    """What a task tells: its sums, and all servers and streams to which it has written."""

    sums: Sums
    places: list[Place]


@dataclass(frozen=True)
class SinkSums:
    """What the last *batch* has written, to so many *streams*; and *all* batches."""

    batch: int
    streams: int
    last: Totals = field(default_factory=dict)
    all: Totals = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str) -> SinkSums:
        """What is in the file. Raises CheckpointError."""
        try:
            value = json.loads(text)
            last, every = numbers(value["last"]), numbers(value["all"])
            return cls(int(value["batch"]), int(value["streams"]), last, every)
        except (AttributeError, KeyError, TypeError, ValueError) as problem:
            raise CheckpointError(
                f"{FILE} is damaged ({type(problem).__name__}: {problem}): it is only read by "
                "status, and can be deleted"
            ) from None


def numbers(value: Any) -> Totals:
    """Sums by name. Raises AttributeError, ValueError, TypeError."""
    return {str(name): float(number) for name, number in value.items()}


def sums_of(messages: Iterable[Message]) -> Sums:
    """The sums of all tasks, by server and stream."""
    sums = Sums()
    for message in messages:
        sums.merge(message.sums)
    return sums


def log_write(messages: Sequence[Message]) -> None:
    """Log what a batch write has written, which Spark tells nobody."""
    totals = sums_of(messages).totals()
    streams = len({place for message in messages for place in message.places})
    rows, sent, repeated, retries = (
        int(totals.get(name, 0))
        for name in (ROWS_WRITTEN, BYTES_WRITTEN, ROWS_REPEATED, WRITE_RETRIES)
    )
    logger.info(
        "written: %d rows, %d bytes, %d streams; %d of the rows were there already; %d retries",
        rows, sent, streams, repeated, retries,
    )  # fmt: skip


def keep(checkpoint: str, batch: int, messages: Sequence[Message]) -> None:
    """Write what a batch has written beside its checkpoint. If that fails, the log says so."""
    if not checkpoint or not is_local(checkpoint) or not messages:
        return
    file = path_of(checkpoint) / FILE
    places = {place for message in messages for place in message.places}
    try:
        before = kept(file)
        if before is not None and before.batch >= batch:
            return
        last = sums_of(messages).totals()
        sums = SinkSums(batch, len(places), last, added(before.all if before else {}, last))
        beside = file.with_name(f".{FILE}.new")
        beside.write_text(json.dumps(asdict(sums)), "utf-8")
        os.replace(beside, file)
    except (OSError, CheckpointError) as problem:
        logger.warning("status will not know what batch %d has written: %s", batch, problem)


def kept(file: Path) -> SinkSums | None:
    """What is in the file; None if there is none. Raises OSError, CheckpointError."""
    try:
        with file.open("rb") as opened:
            return SinkSums.parse(opened.read(LARGEST).decode("utf-8", "replace"))
    except FileNotFoundError:
        return None


def added(one: Totals, other: Totals) -> Totals:
    """Two sums by name, as one."""
    return {name: one.get(name, 0) + other.get(name, 0) for name in {**one, **other}}
