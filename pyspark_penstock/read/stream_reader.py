"""Streaming reads: batches of limited size, planned so that a replay reads the same entries.

Spark keeps one reader in the driver, for all batches, and sends copies of it to the tasks. So a
task's ranges must hold everything that the task needs to know.
"""

from __future__ import annotations

import json
import logging
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from pyspark_penstock.collector import Collector, tell_of_task
from pyspark_penstock.errors import CheckpointError
from pyspark_penstock.figures import Sums
from pyspark_penstock.read import data_loss, plan
from pyspark_penstock.read.entry_reader import read_bundle
from pyspark_penstock.read.fleet_look import FleetLook
from pyspark_penstock.read.offsets import FleetOffset, Streams
from pyspark_penstock.read.plan import Share
from pyspark_penstock.read.server_part import ServerPart
from pyspark_penstock.read.source_options import StreamOptions
from pyspark_penstock.read.worker_exit import exit_if_spark_hung_up
from pyspark_penstock.schema import columns_of

logger = logging.getLogger(__name__)

T = TypeVar("T")
Json = dict[str, Any]
Place = tuple[str, str]  # server, stream


class PenstockStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """The reader of ``spark.readStream``.

    With availableNow it ends where the streams ended at its start.
    """

    def __init__(
        self, options: StreamOptions, schema: StructType, collector: Collector | None = None
    ) -> None:
        self._options = options
        self._collector = collector
        self._columns = columns_of(schema, options.corrupt_column)
        self._source = options.subscription.source()
        self._query = secrets.token_hex(4)  # the id of a new query
        self._parts = {name: ServerPart(name, options) for name in options.fleet.names}
        self._look = FleetLook(fails=options.fleet.fail_on_unreachable)
        self._turn: Place | None = None
        self._aimed = False
        self._last_batch_s = float("-inf")
        self._parsed: tuple[str, FleetOffset] | None = None
        self._planned: FleetOffset | None = None
        self._gone: set[str] = set()  # servers that were warned of

    # ------------------------------------------------------------------ what Spark asks

    def initialOffset(self) -> Json:  # noqa: N802  (Spark's name)
        """Where a new query starts."""
        # What is left out here appears later, and is read from its beginning, whatever options say.
        starts = self._ask(lambda part: part.starts(self._query), self._parts, patiently=True)
        servers = {name: starts.get(name, {}) for name in self._parts}
        return FleetOffset(self._source, self._query, servers).to_json()

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """The default size of a batch, in entries."""
        return ReadMaxRows(self._options.max_offsets)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Remember the ends of the streams. Nothing after them will be read."""
        self._ask(lambda part: part.aim(), self._parts)
        self._aimed = True

    def latestOffset(self, start: Json, limit: ReadLimit) -> Json:  # noqa: N802
        """Where the next batch ends; *start* itself if there is no batch yet."""
        offset = self._checked(start)
        waiting = self._ask(partial(look, offset=offset, aimed=self._aimed), self._parts)
        backlogs = {(name, s): n for name, found in waiting.items() for s, n in found.items()}
        if not backlogs or not self._due(sum(backlogs.values())):
            return start
        ends = self._advance(backlogs, self._shares(backlogs, limit))
        if not any(ends.values()):
            return start
        self._last_batch_s = time.monotonic()
        servers = {s: streams | ends.get(s, {}) for s, streams in self._servers(offset).items()}
        entries = sum(
            p.n - (p.begin.n or 0) for found in ends.values() for p in found.values() if p.begin
        )
        options = self._options
        fill = plan.fill(entries, options.min_partitions, options.max_records_per_partition)
        self._planned = FleetOffset(self._source, offset.query, servers, fill)
        return self._planned.to_json()

    def reportLatestOffset(self) -> Json | None:  # noqa: N802
        """The ends of the streams, and what planning has counted, for Spark's progress reports."""
        heads = {name: part.heads for name, part in self._parts.items()}
        if not any(heads.values()):
            return None
        sums = Sums()
        for part in self._parts.values():
            sums.merge(part.figures)
        return FleetOffset(self._source, "", heads).to_json() | {"figures": sums.to_json()}

    def partitions(self, start: Json, end: Json) -> Sequence[InputPartition]:
        """The tasks of the batch between two offsets. They are the same each time."""
        last = self._checked(end)
        tasks = plan.tasks(self._checked(start), last)
        streams: dict[str, set[str]] = {name: set() for name in last.servers}
        for task in tasks:
            streams[task.server].update(each.stream for each in task.ranges)
        for name in self._parts.keys() & last.servers.keys():
            # A server that may be away is asked only for what the batch reads of it.
            known = last.servers[name] if self._options.fleet.fail_on_unreachable else streams[name]
            self._parts[name].check_group(known, last.query)
            if last != self._planned:  # it is a replay
                self._parts[name].check_batch(sorted(streams[name]), last.part(name))
        return [InputPartition(task) for task in tasks]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """The batches of a task. Raises DataLossError if planned entries were removed."""
        sums = Sums()
        missing = yield from read_bundle(partition.value, self._columns, self._options, sums)
        if missing:
            data_loss.tell("; ".join(missing), fail=self._options.fail_on_data_loss)
        tell_of_task(self._collector, sums)

    def commit(self, end: Json) -> None:
        """Move the position group to *end*, unless that is done."""
        offset = FleetOffset.from_json(end)
        self._ask(lambda part: part.publish(offset.part(part.name)), self._parts)

    def stop(self) -> None:
        """Close the connections."""
        self._look.close()
        for part in self._parts.values():
            part.close()
        exit_if_spark_hung_up()

    # ------------------------------------------------------------------ servers

    def _ask(
        self, question: Callable[[ServerPart], T], names: Iterable[str], *, patiently: bool = False
    ) -> dict[str, T]:
        """The answers of the parts of these servers, without those that are left out."""
        questions = {name: partial(self._parts[name].timed, question) for name in names}
        return self._look.ask(questions, patiently=patiently)

    def _checked(self, value: Json) -> FleetOffset:
        """The offset. One that Spark gives again and again is parsed once."""
        text = json.dumps(value)
        if self._parsed is None or self._parsed[0] != text:
            self._parsed = text, FleetOffset.from_json(value)
        offset = self._parsed[1]
        offset.check(self._source, single=self._options.fleet.is_single)
        self._check_servers(offset)
        return offset

    def _check_servers(self, offset: FleetOffset) -> None:
        """Raises CheckpointError, or warns, of servers that the options do not name any more."""
        gone = set(offset.servers) - set(self._parts)
        if not gone - self._gone:
            return
        problem = f"'servers' lacks {', '.join(sorted(gone))}, which the query has read"
        if self._options.fail_on_data_loss:
            raise CheckpointError(
                f"{problem}; failOnDataLoss=false would go on without what is still unread there"
            )
        self._gone |= gone
        logger.warning("%s; it goes on without", problem)

    def _servers(self, offset: FleetOffset) -> dict[str, Streams]:
        """The positions by server. A server that is new has none: its streams have appeared."""
        return {name: {} for name in self._parts} | offset.servers

    # ------------------------------------------------------------------ limits

    def _due(self, backlog: int) -> bool:
        """Whether there are enough entries for a batch, or the wait for them is over."""
        if self._aimed or backlog >= self._options.min_offsets:
            return True
        waited_ms = (time.monotonic() - self._last_batch_s) * 1_000
        return waited_ms >= self._options.max_delay_ms

    def _shares(self, backlogs: dict[Place, int], limit: ReadLimit) -> dict[Place, Share]:
        """How much the next batch takes of each stream."""
        if isinstance(limit, ReadAllAvailable):
            return {place: Share(backlog) for place, backlog in backlogs.items()}
        most = limit.max_rows if isinstance(limit, ReadMaxRows) else self._options.max_offsets
        sizes = plan.budgets(backlogs, self._options.max_bytes) if self._options.max_bytes else {}
        waiting = {place: max(1, backlog) for place, backlog in backlogs.items()}
        entries = plan.shares(waiting, most, self._turn)
        chosen = [place for place in plan.in_turn(backlogs, self._turn) if entries[place]]
        self._turn = chosen[-1] if len(chosen) < len(backlogs) else None
        return {place: Share(entries[place], sizes.get(place)) for place in chosen}

    def _advance(
        self, backlogs: Mapping[Place, int], shares: Mapping[Place, Share]
    ) -> dict[str, Streams]:
        """Where the batch ends in each stream, by server."""
        total = max(1, sum(share.entries for share in shares.values()))
        wanted: dict[str, dict[str, Share]] = {}
        parts: dict[str, dict[str, int]] = {}
        for (server, stream), share in shares.items():
            wanted.setdefault(server, {})[stream] = share
            some = min(share.entries, backlogs[server, stream])
            of_all = -(-self._options.min_partitions * some // total)
            parts.setdefault(server, {})[stream] = max(1, of_all)
        return self._ask(lambda part: part.advance(wanted[part.name], parts[part.name]), wanted)


def look(part: ServerPart, offset: FleetOffset, *, aimed: bool) -> dict[str, int]:
    """What waits at one server. Its batch up to *offset* is done."""
    if aimed and not part.is_aimed:  # it was left out when the others were
        part.aim()
    done = offset.part(part.name)
    waiting = part.look(done)
    part.publish(done)
    return waiting
