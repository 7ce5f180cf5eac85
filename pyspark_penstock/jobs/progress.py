"""Progress: Spark's report of a batch, as one line for each stream.

    batch 17  orders  +250,000 (301 k/s)  at 1763000062499-3  lag 750,000 (~3 s)  write 614 ms  ...

The counts are exact: an offset holds how many entries had ever been added to each stream. Of
several servers a stream is named with its server: ``a:6379 orders``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pyspark_penstock.entry_id import EntryId
from pyspark_penstock.errors import CheckpointError
from pyspark_penstock.read.offsets import ONLY, FleetOffset, Offset, Streams
from pyspark_penstock.read.positions import Position
from pyspark_penstock.shared.group_offsets import SharedOffset

Report = Mapping[str, Any]  # a StreamingQueryProgress as JSON
Read = tuple[str, int, EntryId, int | None]  # stream, entries, the last one, lag


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

    def line(self) -> str:
        """The form for people."""
        parts = [
            f"batch {self.batch}",
            self.stream,
            f"+{self.entries:,} ({rate(self.entries_per_s)})",
            f"at {self.at}",
            *([f"lag {self.lag:,}{about(self.lag_s)}"] if self.lag is not None else []),
            f"write {self.write_ms} ms",
            f"commit {self.commit_ms} ms",
        ]
        return "  ".join(parts)

    def to_json(self) -> dict[str, Any]:
        """The form for programs."""
        return asdict(self)


def progress_of(report: Report) -> Iterator[StreamProgress]:
    """The progress of a batch in each stream that it has read."""
    for source in report["sources"]:
        for stream, entries, at, lag in (*ranges_read(source), *claims_read(source)):
            if entries:
                yield stream_progress(report, stream, entries, at, lag)


def ranges_read(source: Mapping[str, Any]) -> Iterator[Read]:
    """What a batch has read by ranges."""
    end = positions_of(source.get("endOffset"))
    start = positions_of(source.get("startOffset"))
    latest = positions_of(source.get("latestOffset"))
    for stream, position in end.items():
        head = latest.get(stream)
        lag = max(0, head.n - position.n) if head else None
        yield stream, entries_read(stream, position, start), position.id, lag


def claims_read(source: Mapping[str, Any]) -> Iterator[Read]:
    """What a batch has read from a shared group. The lag is the group's."""
    try:
        end = SharedOffset.from_json(source.get("endOffset"))
    except CheckpointError:
        return
    if end.to_json() == source.get("startOffset"):
        return
    lags = (source.get("latestOffset") or {}).get("lag", {})
    for stream, claim in end.claims.items():
        yield stream, claim.entries, claim.upto, lags.get(stream)


def stream_progress(
    report: Report, stream: str, entries: int, at: EntryId, lag: int | None
) -> StreamProgress:
    """The progress in one stream: *entries*, up to the id *at*."""
    took = report["durationMs"]
    per_s = entries * 1_000 / max(1, took.get("triggerExecution", 1))
    return StreamProgress(
        batch=report["batchId"],
        stream=stream,
        entries=entries,
        entries_per_s=round(per_s, 1),
        at=str(at),
        lag=lag,
        lag_s=None if lag is None else round(lag / per_s, 1),
        write_ms=took.get("addBatch", 0),
        commit_ms=took.get("commitOffsets", 0),
    )


def entries_read(stream: str, position: Position, start: Streams) -> int:
    """How many entries there are from the beginning of the batch to *position*."""
    before = start.get(stream)
    if position == before:
        return 0
    if position.begin is not None and position.begin.n is not None:  # after the lost entries
        return max(0, position.n - position.begin.n)
    return max(0, position.n - before.n) if before else 0


def positions_of(value: Any) -> Streams:
    """The positions in an offset by the names that people are shown; none if it is not ours."""
    offset = offset_of(value)
    if offset is None:
        return {}
    return {
        f"{server} {stream}" if server != ONLY else stream: position
        for server, streams in offset.servers.items()
        for stream, position in streams.items()
    }


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
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if per_s >= size:
            return f"{per_s / size:.3g} {unit}/s"
    return f"{per_s:.3g}/s"


def about(seconds: float | None) -> str:
    """A rough time; empty if it is zero or unknown."""
    return f" (~{seconds:.0f} s)" if seconds else ""
