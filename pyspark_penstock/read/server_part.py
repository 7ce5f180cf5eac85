"""A part of a stream reader: what it reads of one server of its fleet."""

from __future__ import annotations

import logging
import time
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import TypeVar

from pyspark_penstock.connect.client import LazyClient
from pyspark_penstock.connect.dial import Preference
from pyspark_penstock.connect.links import Links
from pyspark_penstock.connect.retry import Retry
from pyspark_penstock.connect.stream_info import StreamState
from pyspark_penstock.entry_id import FIRST
from pyspark_penstock.errors import CheckpointError
from pyspark_penstock.figures import ENTRIES_LOST, OTHERS, PLAN_MS, Sums
from pyspark_penstock.read import bounds, data_loss, plan
from pyspark_penstock.read.counting import Counting, Wanted
from pyspark_penstock.read.discovery import Discovery
from pyspark_penstock.read.entry_count import Counted, count_entries
from pyspark_penstock.read.offsets import Offset, Streams
from pyspark_penstock.read.plan import Share
from pyspark_penstock.read.positions import Cut, Position
from pyspark_penstock.read.scan import Scan
from pyspark_penstock.read.source_options import StreamOptions
from pyspark_penstock.read.starting_position import head_of, start_of
from pyspark_penstock.read.states import groups_by, is_of_replica, news_of, states_of
from pyspark_penstock.read.walked import Walked

MANY = 200  # streams: of more than these, not all are looked at each time

T = TypeVar("T")
logger = logging.getLogger(__name__)


class ServerPart:
    """What a query reads of one server; *name* is the server's in the fleet.

    ``look`` tells what waits, ``advance`` takes a share of it.
    """

    def __init__(self, name: str, options: StreamOptions) -> None:
        self.name = name
        self.heads: Streams = {}
        self.positions: Streams = {}
        self.figures = Sums()  # since the query was started, as of the last question
        self._sums = Sums()
        self._options = options.at(name)
        group = Preference.PRIMARY if options.group else Preference.ANY
        self._links = Links(self._options.server, group, "looking at streams")
        self._client = LazyClient(self._options.client)
        self._discovery = Discovery(self._links, self._options)
        self._walked = Walked()
        self._counting = Counting(self._links, self._options, self._walked)
        self._states: dict[str, StreamState] = {}
        self._targets: Streams | None = None
        self._quick = True  # whether the server says in one go which streams have news
        self._seen: set[str] = set()  # streams that were looked at once
        self._checked = ""  # the last stream that was looked at in its turn
        self._ends: Streams = {}  # of streams that end inside what is there
        self._warned: dict[str, tuple[int, int]] = {}  # where a stream was, and what it had lost
        self._group = options.position_group
        self._with_group: set[str] = set()  # streams that were checked
        self._published: Offset | None = None

    def close(self) -> None:
        """Close the connections."""
        self._links.close()
        self._discovery.close()
        self._client.close()

    def timed(self, question: Callable[[ServerPart], T]) -> T:
        """The answer to a question about this part; the time that it takes is counted."""
        began = time.perf_counter()
        try:
            return question(self)
        finally:
            self._sums.add((self.name, OTHERS), PLAN_MS, (time.perf_counter() - began) * 1_000)
            self.figures = self._sums.copy()  # what is read while a slow server is still asked

    # ------------------------------------------------------------------ the group

    def check_group(self, streams: Iterable[str], query: str) -> None:
        """Raises OptionError if the group of a stream that is new here is not *query*'s to move."""
        if not self._group.group:
            return
        new = set(streams) - self._with_group
        if new:
            self._group.check(self._client.get(), sorted(new), query)
            self._with_group |= new

    def publish(self, done: Offset) -> None:
        """Move the position group to *done*, once.

        When Spark asks for the next offset, the previous batch is in its commit log. Its own
        ``commit`` comes only with the next batch, so on an idle stream never.
        """
        if self._group.group and not done.is_start and done != self._published:
            self._group.publish(self._client.get(), done)
            self._published = done

    # ------------------------------------------------------------------ the streams

    def starts(self, query: str) -> Streams:
        """Where a new query starts."""
        self._discovery.again()
        names, _ = self._discovery.find()
        states = self._states_of(names, {})
        self.check_group((s for s, state in states.items() if state.exists), query)
        groups, options = partial(groups_by, self._links), self._options
        return {s: start_of(groups, s, state, options, self._walked) for s, state in states.items()}

    def aim(self) -> None:
        """Remember the ends of the streams. Nothing after them will be read."""
        self._discovery.again()
        names, states = self._discovery.find()
        if not states:
            states = self._states_of(names, {})
        self._targets = {s: head_of(state) for s, state in states.items()}

    @property
    def is_aimed(self) -> bool:
        """Whether ``aim`` has found ends."""
        return self._targets is not None

    def look(self, offset: Offset) -> dict[str, int]:
        """How many entries wait in each stream, from *offset* on."""
        names, listed = self._discovery.find()
        known = offset.streams
        wanted = sorted({*names, *known})
        news = wanted
        if listed and known.keys() <= listed.keys() and self._agree(known, listed):
            self._states = listed
        else:
            news = self._news(wanted, known)
            self._states = self._states_of(news, known)
        self.check_group((s for s in news if self._states[s].exists), offset.query)
        self.positions = {s: self._position(s, offset, self._states[s]) for s in news}
        heads = {s: self._head(s, self.positions[s], self._states[s]) for s in news}
        self.heads = known | heads
        return {
            s: max(0, head.n - self.positions[s].n)
            for s, head in heads.items()
            if head.id > self.positions[s].id
        }

    def _news(self, wanted: list[str], known: Streams) -> list[str]:
        """The streams to look at: all, or of MANY those with news, and some others in turn.

        So what was deleted or trimmed without anything new is found, too, only later.
        """
        if len(known) < MANY or not self._quick or not self._seen >= known.keys():
            self._seen = set(wanted)
            return wanted
        fresh = news_of(self._links, {s: position.id for s, position in known.items()})
        if fresh is None:
            self._quick = False
            return wanted
        behind = bisect_right(wanted, self._checked)
        others = (wanted[behind:] + wanted[:behind])[:MANY]
        self._checked = others[-1]
        return sorted({*fresh, *others, *(s for s in wanted if s not in known)})

    def check_batch(self, streams: Iterable[str], last: Offset) -> None:
        """Raises an error if a batch that was planned before cannot be read any more."""
        begins = {
            s: Position(begin.id, begin.n)
            for s in streams
            if (begin := last.streams[s].begin) is not None and begin.n is not None
        }
        for stream, state in self._states_of(begins, begins).items():
            self._watch(stream, begins[stream], state)

    @staticmethod
    def _agree(known: Streams, states: Mapping[str, StreamState]) -> bool:
        """Whether all positions can be of these streams; if not, it is looked at closer."""
        return all(
            position.id <= states[s].last_id and position.n <= states[s].added
            for s, position in known.items()
        )

    def _states_of(self, names: Iterable[str], known: Streams) -> dict[str, StreamState]:
        """The states of streams. A replica that lags behind *known* is waited for.

        Raises CheckpointError if a known position is of another stream.
        """
        found: dict[str, StreamState] = {}
        behind = list(names)
        retry = Retry(self._options.server, "reading streams")
        while behind:
            found |= states_of(self._links, behind)
            problems: dict[str, CheckpointError] = {}
            for stream in behind:
                try:
                    data_loss.check_same_stream(
                        stream, known.get(stream, Position()), found[stream]
                    )
                except CheckpointError as problem:
                    problems[stream] = problem
            behind = list(problems)
            if problems:
                stream, first = next(iter(problems.items()))
                if not is_of_replica(self._links, stream):
                    raise first
                self._links.close()
                retry.wait_after(ConnectionError(f"a replica lags behind: {first}"))
        return found

    # ------------------------------------------------------------------ positions

    def _position(self, stream: str, offset: Offset, state: StreamState) -> Position:
        """Where the next batch starts in *stream*, after what was lost."""
        if stream not in offset.streams:  # it has appeared: read from its beginning
            return Position(FIRST, state.removed)
        position = offset.streams[stream]
        self._watch(stream, position, state)
        if state.exists and state.removed > position.n:
            return replace(position, n=state.removed)
        return position

    def _watch(self, stream: str, position: Position, state: StreamState) -> None:
        """Raise DataLossError for entries that were lost, or warn of them once."""
        lost = data_loss.lost_entries(position, state)
        if not lost:
            return
        if self._options.fail_on_data_loss:
            full = states_of(self._links, [stream])[stream]  # which tells the oldest entry, too
            data_loss.check_nothing_lost(stream, position, full if full.exists else state)
        at, known = self._warned.get(stream, (position.n, 0))
        new = lost - known if at == position.n else lost
        if new > 0:
            self._warned[stream] = position.n, lost
            self._sums.add((self.name, stream), ENTRIES_LOST, new)
            logger.warning("stream %r: %d entries were lost unread", stream, lost)

    def _head(self, stream: str, position: Position, state: StreamState) -> Position:
        """How far *stream* can be read now."""
        end = self._end(stream, state)
        if self._targets is None:
            return position if end.id <= position.id else end
        target = min(self._targets.get(stream, position), end, key=lambda place: place.id)
        if target.id <= position.id:
            return position
        return replace(target, n=max(target.n, position.n))  # entries after it may be lost too

    def _end(self, stream: str, state: StreamState) -> Position:
        """The end of the stream, or that which the options give it."""
        ending, head = self._options.ending, head_of(state)
        if ending.of(stream).kind is bounds.Kind.LATEST or not state.exists:
            return head
        upto = bounds.resolve_end(partial(groups_by, self._links), stream, state, ending)
        if upto >= state.last_id:
            return head
        if stream not in self._ends:
            options = self._options
            scan = Scan(
                options.server, stream, upto, state.last_id, options.fetch_size,
                wait=options.fail_on_data_loss,
            )  # fmt: skip
            behind = count_entries(scan)
            self._ends[stream] = Position(upto, state.added - behind)
        return self._ends[stream]

    # ------------------------------------------------------------------ batches

    def advance(self, shares: Mapping[str, Share], parts: Mapping[str, int]) -> Streams:
        """The positions after *shares* more entries of the streams, each in so many *parts*.

        If nothing was ever removed from a stream, no entry of a whole backlog can be missing.
        Then the batch is cut by time, without reading it first. Otherwise its entries are counted.
        """
        ends: Streams = {}
        wanted: dict[str, Wanted] = {}
        for stream, share in shares.items():
            position, head = self.positions[stream], self.heads[stream]
            backlog = head.n - position.n
            all_of_it = share.entries >= backlog
            step = self._step(min(share.entries, backlog), parts[stream])
            if all_of_it and share.bytes is None and self._may_cut_by_time(stream, backlog, step):
                begin = Cut(position.id, position.n)
                cuts = plan.time_cuts(position.id, head.id, backlog, parts[stream])
                ends[stream] = Position(head.id, head.n, begin, cuts)
                self._walked.forget(stream)
            else:
                most = None if all_of_it else share.entries
                removed = self._states[stream].removed
                wanted[stream] = Wanted(position, head, most, share.bytes, step, removed)
        for stream, counted in self._counting.count(wanted).items():
            ends[stream] = self._after(stream, wanted[stream], counted)
        return ends

    def _after(self, stream: str, wanted: Wanted, counted: Counted) -> Position:
        """The position at the end of what was counted."""
        position, head = wanted.begin, wanted.head
        backlog = head.n - position.n
        lost = self._lost_within(stream, head, backlog, counted)
        # They count as lost before the batch, so that no task reports them again.
        begin = position.n + lost
        return Position(
            head.id if counted.all else counted.id,
            begin + counted.entries,
            Cut(position.id, begin),
            tuple(Cut(mark.id, begin + (mark.n or 0)) for mark in counted.marks),
        )

    def _may_cut_by_time(self, stream: str, backlog: int, step: int) -> bool:
        """Whether tasks need no counts: there is one task only, or nothing was ever removed."""
        if step >= backlog:
            return True
        if self._options.max_records_per_partition is not None:
            return False
        return not (self._states[stream].removed and self._options.fail_on_data_loss)

    def _lost_within(self, stream: str, head: Position, backlog: int, counted: Counted) -> int:
        """How many entries of *backlog* are missing, if all was counted.

        Raises DataLossError, or warns.
        """
        lost = max(0, backlog - counted.entries) if counted.all else 0
        if lost:
            problem = (
                f"stream {stream!r}: {lost} entries up to {head.id} were trimmed or deleted before "
                "they were read"
            )
            data_loss.tell(problem, fail=self._options.fail_on_data_loss)
            self._sums.add((self.name, stream), ENTRIES_LOST, lost)
        return lost

    def _step(self, entries: int, parts: int) -> int:
        """How many entries a counted task gets."""
        return plan.step(entries, parts, self._options.max_records_per_partition)
