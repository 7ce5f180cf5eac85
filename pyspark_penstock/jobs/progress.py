"""Progress: Spark's report of a batch, as one line for each stream, and one for the sink.

    batch 17  orders  +250,000 (301 k/s)  at 1763000062499-3  lag 750,000 (~3 s)  write 614 ms  ...
    batch 17  sink  +250,000 rows  31.4 MB

The counts of entries are exact: an offset holds how many entries had ever been added to each
stream. Of several servers a stream is named with its server: ``a:6379 orders``. What else was
counted (``Sums``) is said if it is not zero.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from pyspark_penstock.entry_id import EntryId
from pyspark_penstock.errors import CheckpointError
from pyspark_penstock.figures import (
    BAD_VALUES,
    BYTES_READ,
    BYTES_WRITTEN,
    ENTRIES_LOST,
    ENTRIES_REDELIVERED,
    ROWS_DROPPED,
    ROWS_REPEATED,
    ROWS_WRITTEN,
    WRITE_RETRIES,
    Place,
    Sums,
)
from pyspark_penstock.jobs.text_tables import size
from pyspark_penstock.read.offsets import ONLY, FleetOffset, Offset
from pyspark_penstock.read.positions import Position
from pyspark_penstock.shared.group_offsets import SharedOffset

Report = Mapping[str, Any]  # a StreamingQueryProgress as JSON
Positions = Mapping[Place, Position]


class StreamRead(NamedTuple):
    """What a batch has read of a stream: so many entries, up to the id *at*."""

    place: Place
    entries: int
    at: EntryId
    lag: int | None  # None if the end of the stream is not known


@dataclass(frozen=True)
class StreamProgress:
    """What a batch did to one stream. *lag* is None if the end of the stream is not known."""

    batch: int
    stream: str
    entries: int
    entries_per_s: float
    at: str
    lag: int | None
    lag_s: float | None
    write_ms: int
    commit_ms: int
    server: str = ONLY
    bytes_read: int = 0
    bad_values: int = 0
    rows_dropped: int = 0
    entries_lost: int = 0
    entries_redelivered: int = 0

    def line(self) -> str:
        """The form for people."""
        counted = {
            "bad": self.bad_values,
            "dropped": self.rows_dropped,
            "lost": self.entries_lost,
            "redelivered": self.entries_redelivered,
        }
        parts = [
            f"batch {self.batch}",
            shown((self.server, self.stream)),
            f"+{self.entries:,} ({rate(self.entries_per_s)})",
            f"at {self.at}",
            *([f"lag {self.lag:,}{about(self.lag_s)}"] if self.lag is not None else []),
            *(f"{name} {number:,}" for name, number in counted.items() if number),
            f"write {self.write_ms} ms",
            f"commit {self.commit_ms} ms",
        ]
        return "  ".join(parts)

    def to_json(self) -> dict[str, Any]:
        """The form for programs."""
        return asdict(self)


@dataclass(frozen=True)
class SinkProgress:
    """What a batch has written, by the sink's commit messages.

    *rows_repeated* of the rows were there already, when a batch or a task is run again.
    """

    batch: int
    rows_written: int
    bytes_written: int
    rows_repeated: int
    write_retries: int

    def line(self) -> str:
        """The form for people."""
        counted = {"there already": self.rows_repeated, "retries": self.write_retries}
        parts = [
            f"batch {self.batch}",
            "sink",
            f"+{self.rows_written:,} rows",
            size(self.bytes_written),
            *(f"{name} {number:,}" for name, number in counted.items() if number),
        ]
        return "  ".join(parts)

    def to_json(self) -> dict[str, Any]:
        """The form for programs."""
        return asdict(self)


def progress_of(report: Report, sums: Sums | None = None) -> Iterator[StreamProgress]:
    """The progress of a batch in each stream that it has read; *sums* is what was counted."""
    for read in reads_of(report):
        if read.entries:
            yield stream_progress(report, read, sums or Sums())


def sink_progress(report: Report, sums: Sums) -> SinkProgress | None:
    """What a batch has written; None if its sink has told nothing."""
    names = (ROWS_WRITTEN, BYTES_WRITTEN, ROWS_REPEATED, WRITE_RETRIES)
    if not sums.total(ROWS_WRITTEN):
        return None
    return SinkProgress(report["batchId"], **{name: int(sums.total(name)) for name in names})


def reads_of(report: Report) -> Iterator[StreamRead]:
    """What a batch has read of each stream of our sources, also of those of which it is nothing."""
    for source in report["sources"]:
        yield from ranges_read(source)
        yield from claims_read(source)


def ranges_read(source: Mapping[str, Any]) -> Iterator[StreamRead]:
    """What a batch has read by ranges."""
    end = positions_of(source.get("endOffset"))
    start = positions_of(source.get("startOffset"))
    latest = positions_of(source.get("latestOffset"))
    for place, position in end.items():
        head = latest.get(place)
        lag = max(0, head.n - position.n) if head else None
        yield StreamRead(place, entries_read(place, position, start), position.id, lag)


def claims_read(source: Mapping[str, Any]) -> Iterator[StreamRead]:
    """What a batch has read from a shared group. The lag is the group's."""
    try:
        end = SharedOffset.from_json(source.get("endOffset"))
    except CheckpointError:
        return
    if end.to_json() == source.get("startOffset"):
        return
    lags = (source.get("latestOffset") or {}).get("lag", {})
    for stream, claim in end.claims.items():
        yield StreamRead((ONLY, stream), claim.entries, claim.upto, lags.get(stream))


def stream_progress(report: Report, read: StreamRead, sums: Sums) -> StreamProgress:
    """The progress in one stream."""
    took = report["durationMs"]
    per_s = read.entries * 1_000 / max(1, took.get("triggerExecution", 1))
    server, stream = read.place
    counted = (BYTES_READ, BAD_VALUES, ROWS_DROPPED, ENTRIES_LOST, ENTRIES_REDELIVERED)
    return StreamProgress(
        batch=report["batchId"],
        stream=stream,
        entries=read.entries,
        entries_per_s=round(per_s, 1),
        at=str(read.at),
        lag=read.lag,
        lag_s=None if read.lag is None else round(read.lag / per_s, 1),
        write_ms=took.get("addBatch", 0),
        commit_ms=took.get("commitOffsets", 0),
        server=server,
        **{name: int(sums.of(read.place, name)) for name in counted},
    )


def entries_read(place: Place, position: Position, start: Positions) -> int:
    """How many entries there are from the beginning of the batch to *position*."""
    before = start.get(place)
    if position == before:
        return 0
    if position.begin is not None and position.begin.n is not None:  # after the lost entries
        return max(0, position.n - position.begin.n)
    return max(0, position.n - before.n) if before else 0


def positions_of(value: Any) -> Positions:
    """The positions in an offset, by server and stream; none if it is not ours."""
    offset = offset_of(value)
    if offset is None:
        return {}
    return {
        (server, stream): position
        for server, streams in offset.servers.items()
        for stream, position in streams.items()
    }


def shown(place: Place) -> str:
    """A stream as people are shown it; of several servers, with its server."""
    server, stream = place
    return f"{server} {stream}" if server != ONLY else stream


def offset_of(value: Any) -> FleetOffset | None:
    """The offset, if it is one of our sources that read ranges; else None."""
    if not isinstance(value, dict):
        return None
    try:
        return FleetOffset.from_json(value)
    except CheckpointError:
        return None


def committed_offsets(report: Report) -> list[Offset]:
    """How far each of our sources that read one server is read after the batch."""
    found = (offset_of(source.get("endOffset")) for source in report["sources"])
    return [offset.part(ONLY) for offset in found if offset is not None and ONLY in offset.servers]


def rate(per_s: float) -> str:
    """Entries per second, in short form."""
    for least, unit in ((1_000_000, "M"), (1_000, "k")):
        if per_s >= least:
            return f"{per_s / least:.3g} {unit}/s"
    return f"{per_s:.3g}/s"


def about(seconds: float | None) -> str:
    """A rough time; empty if it is zero or unknown."""
    return f" (~{seconds:.0f} s)" if seconds else ""
