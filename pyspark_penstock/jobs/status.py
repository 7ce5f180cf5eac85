"""Status: how far a query is, read from its checkpoint without Spark."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from pyspark_penstock.connect.stream_info import stream_state
from pyspark_penstock.errors import ServerError
from pyspark_penstock.jobs.checkpoint import Checkpoint, read_checkpoint
from pyspark_penstock.jobs.files import LocalFiles
from pyspark_penstock.jobs.server_options import ServerOptions, connect
from pyspark_penstock.read.positions import Position


@dataclass(frozen=True)
class StreamStatus:
    """How far one stream is read.

    *lag* is None if the server does not answer or lacks the stream.
    """

    stream: str
    id: str
    entries: int
    lag: int | None


@dataclass(frozen=True)
class ClaimStatus:
    """What the last batch of a query with a shared group has claimed of one stream."""

    stream: str
    group: str
    consumer: str
    entries: int
    upto: str


@dataclass(frozen=True)
class Status:
    """The state of a query. *unfinished* is the batch that runs again at the next start."""

    query: str
    committed: int | None
    planned_ms: int | None
    unfinished: int | None
    streams: tuple[StreamStatus, ...]
    claims: tuple[ClaimStatus, ...] = ()
    server_problem: str = ""

    def to_json(self) -> dict[str, Any]:
        """The form for programs."""
        return asdict(self)


def status(folder: str, server: ServerOptions) -> Status:
    """The status of the query with the checkpoint *folder*. Raises CheckpointError, OptionError.

    If the server does not answer, the status has no lags.
    """
    checkpoint = read_checkpoint(LocalFiles(), folder)
    positions = [pair for offset in checkpoint.offsets for pair in offset.streams.items()]
    problem, heads = "", dict[str, int]()
    try:
        heads = entries_added(server, [stream for stream, _ in positions])
    except ServerError as refused:
        problem = str(refused)
    return Status(
        query=checkpoint.query,
        committed=checkpoint.committed.number if checkpoint.committed else None,
        planned_ms=checkpoint.committed.planned_ms if checkpoint.committed else None,
        unfinished=unfinished(checkpoint),
        streams=tuple(stream_statuses(positions, heads)),
        claims=tuple(claim_statuses(checkpoint)),
        server_problem=problem,
    )


def unfinished(checkpoint: Checkpoint) -> int | None:
    """The batch that is planned and not committed, if there is one."""
    planned = checkpoint.planned.number if checkpoint.planned else -1
    committed = checkpoint.committed.number if checkpoint.committed else -1
    return planned if planned > committed else None


def claim_statuses(checkpoint: Checkpoint) -> Iterator[ClaimStatus]:
    """The claims in shared groups. Only the server knows how far such a group is."""
    for offset in checkpoint.shared:
        for stream, claim in offset.claims.items():
            _, group, consumer = offset.place(stream)
            yield ClaimStatus(stream, group, consumer, claim.entries, str(claim.upto))


def entries_added(server: ServerOptions, streams: list[str]) -> dict[str, int]:
    """How many entries were ever added to each stream. Raises ServerError, without retries."""
    with connect({"retryTimeout": "0"} | dict(server)) as client:
        states = {stream: stream_state(client, stream) for stream in streams}
    return {stream: state.added for stream, state in states.items() if state.exists}


def stream_statuses(
    positions: list[tuple[str, Position]], heads: dict[str, int]
) -> Iterator[StreamStatus]:
    """The status of each stream."""
    for stream, position in positions:
        head = heads.get(stream)
        lag = None if head is None else max(0, head - position.n)
        yield StreamStatus(stream, str(position.id), position.n, lag)
