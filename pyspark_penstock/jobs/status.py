"""Status: how far a query is, read from its checkpoint without Spark."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from pyspark_penstock.connect.stream_info import stream_state
from pyspark_penstock.errors import CheckpointError, ServerError
from pyspark_penstock.jobs.checkpoint import Checkpoint, read_checkpoint
from pyspark_penstock.jobs.files import Files, LocalFiles
from pyspark_penstock.jobs.server_options import ServerOptions, connect, overridden
from pyspark_penstock.read.offsets import ONLY, Streams
from pyspark_penstock.write.batch_sums import FILE, SinkSums


@dataclass(frozen=True)
class StreamStatus:
    """How far one stream is read.

    *lag* is None if the server does not answer or lacks the stream. *server* is empty if the query
    reads only one.
    """

    stream: str
    id: str
    entries: int
    lag: int | None
    server: str = ""


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
    sink: SinkSums | None = None  # what our sink has written
    sink_problem: str = ""

    def to_json(self) -> dict[str, Any]:
        """The form for programs."""
        return asdict(self)


def status(folder: str, server: ServerOptions) -> Status:
    """The status of the query with the checkpoint *folder*. Raises CheckpointError, OptionError.

    If the server does not answer, the status has no lags.
    """
    checkpoint = read_checkpoint(LocalFiles(), folder)
    streams, problems = list[StreamStatus](), list[str]()
    parts = [(ONLY, offset.streams) for offset in checkpoint.offsets]
    parts += [part for offset in checkpoint.fleets for part in offset.servers.items()]
    for name, positions in parts:
        at = server if name == ONLY else overridden(server, {"bootstrap.servers": name})
        heads = dict[str, int]()
        try:
            heads = entries_added(at, list(positions))
        except ServerError as refused:
            problems.append(str(refused))
        streams += stream_statuses(name, positions, heads)
    sink, sink_problem = sink_sums(LocalFiles(), folder)
    return Status(
        query=checkpoint.query,
        committed=checkpoint.committed.number if checkpoint.committed else None,
        planned_ms=checkpoint.committed.planned_ms if checkpoint.committed else None,
        unfinished=unfinished(checkpoint),
        streams=tuple(streams),
        claims=tuple(claim_statuses(checkpoint)),
        server_problem="; ".join(problems),
        sink=sink,
        sink_problem=sink_problem,
    )


def sink_sums(files: Files, folder: str) -> tuple[SinkSums | None, str]:
    """What our sink has written beside the checkpoint; or why that is not known."""
    if FILE not in files.names(folder):
        return None, ""
    try:
        return SinkSums.parse(files.text(f"{folder.rstrip('/')}/{FILE}")), ""
    except (OSError, CheckpointError) as problem:
        return None, str(problem)


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
    server: str, positions: Streams, heads: dict[str, int]
) -> Iterator[StreamStatus]:
    """The status of each stream of a server."""
    for stream, position in positions.items():
        head = heads.get(stream)
        lag = None if head is None else max(0, head - position.n)
        yield StreamStatus(stream, str(position.id), position.n, lag, server)
