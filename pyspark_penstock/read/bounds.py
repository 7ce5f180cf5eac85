"""Bounds: where reading starts and ends, in the form of options, and the ids that they mean.

    earliest  latest          the ends of the stream
    1763000062499-3  1763     an id as in XRANGE, inclusive; without a sequence it means the whole
                              millisecond
    (1763000062499-3          an id, exclusive
    group:payments            after the last entry delivered to a consumer group
    a time in milliseconds    inclusive as a start, exclusive as an end
    -2  -1                    in JSON, as Kafka has them: earliest, latest; and {"0": -2}, since a
                              stream is one partition

Ids begin with their time, so a time is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from pyspark_penstock.connect.stream_info import GroupState, StreamState
from pyspark_penstock.entry_id import FIRST, LARGEST_PART, EntryId
from pyspark_penstock.errors import OptionError
from pyspark_penstock.options import Options, refusal

GROUP_PREFIX = "group:"

Groups = Callable[[str], Sequence[GroupState]]  # the groups of a stream, which must exist


class Kind(Enum):
    """What a bound is relative to."""

    EARLIEST = "earliest"
    LATEST = "latest"
    ID = "id"
    TIME = "time"
    GROUP = "group"


@dataclass(frozen=True)
class Bound:
    """One end of a range. As a start, *id* is exclusive; as an end, it is inclusive."""

    kind: Kind
    id: EntryId = FIRST
    ms: int = 0
    group: str = ""


EARLIEST, LATEST = Bound(Kind.EARLIEST), Bound(Kind.LATEST)
OF_KAFKA = {-2: EARLIEST, -1: LATEST}
PARTITION = "0"  # the only one of a stream, where Kafka's JSON names partitions


@dataclass(frozen=True)
class Bounds:
    """The bounds of all streams: by name, and a default for the others."""

    default: Bound
    by_stream: Mapping[str, Bound]
    or_latest: bool = False  # a start time after the last entry means the end, not an error

    def of(self, stream: str) -> Bound:
        """The bound of one stream."""
        return self.by_stream.get(stream, self.default)


def starting_bounds(options: Options, default: Bound) -> Bounds:
    """The start, from whichever option is given. Raises OptionError."""
    names = ("startingOffsets", "startingTimestamp", "startingOffsetsByTimestamp", "assign")
    options.at_most_one(*names)
    if not any(name in options for name in ("startingTimestamp", "startingOffsetsByTimestamp")):
        options.refuse(
            ["startingOffsetsByTimestampStrategy"], "is for a time to start at: give one"
        )
    strategy = options.choice("startingOffsetsByTimestampStrategy", "error", "latest")
    bounds = bounds_of(options, "starting", default)
    return Bounds(bounds.default, bounds.by_stream, strategy == "latest")


def ending_bounds(options: Options) -> Bounds:
    """The end, from whichever option is given. Raises OptionError."""
    names = ("endingOffsets", "endingTimestamp", "endingOffsetsByTimestamp", "assign")
    options.at_most_one(*names)
    return bounds_of(options, "ending", LATEST)


def bounds_of(options: Options, side: str, default: Bound) -> Bounds:
    """The bounds on one side."""
    offsets, time, times = f"{side}Offsets", f"{side}Timestamp", f"{side}OffsetsByTimestamp"
    if "assign" in options:
        at = 0 if side == "starting" else 1
        pairs = options.json_object("assign").items()
        return Bounds(default, {s: parse(side, "assign", pair(p)[at]) for s, p in pairs})
    if time in options:
        return Bounds(Bound(Kind.TIME, ms=options.integer(time, 0)), {})
    if times in options:
        named = options.json_object(times).items()
        return Bounds(default, {s: Bound(Kind.TIME, ms=as_ms(times, ms)) for s, ms in named})
    if options.text(offsets).lstrip().startswith("{"):
        named = options.json_object(offsets).items()
        return Bounds(default, {s: parse(side, offsets, text) for s, text in named})
    return Bounds(
        parse(side, offsets, options.text(offsets)) if offsets in options else default, {}
    )


def pair(value: Any) -> list[Any]:
    """The two ids of a range in ``assign``. Raises OptionError."""
    if not (isinstance(value, list) and len(value) == 2):
        raise refusal("assign", str(value), 'ranges by stream: {"orders": ["earliest", "1763-0"]}')
    return value


def as_ms(name: str, value: Any) -> int:
    """A time in milliseconds."""
    if isinstance(value, dict) and value.keys() == {PARTITION}:
        value = value[PARTITION]
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise refusal(name, str(value), "milliseconds since 1970 by stream")
    return value


def parse(side: str, name: str, text: Any) -> Bound:
    """Parse a bound. Raises OptionError."""
    words = {"earliest": EARLIEST, "-": EARLIEST, "latest": LATEST, "+": LATEST}
    if isinstance(text, str) and text in words:
        return words[text]
    if isinstance(text, dict) and text.keys() == {PARTITION}:
        text = text[PARTITION]
    if type(text) is int and text in OF_KAFKA:
        return OF_KAFKA[text]
    if isinstance(text, str) and text.startswith(GROUP_PREFIX):
        return Bound(Kind.GROUP, group=text.removeprefix(GROUP_PREFIX))
    try:
        return Bound(Kind.ID, id=boundary(side, str(text)))
    except ValueError:
        raise refusal(
            name, str(text), "earliest, latest, an id, (id, group:name, or JSON of these by stream"
        ) from None


def boundary(side: str, text: str) -> EntryId:
    """The id after which a range begins, or with which it ends. Raises ValueError."""
    excluded = text.startswith("(")
    starting = side == "starting"
    whole_ms_below = starting != excluded
    place = EntryId.parse(text.removeprefix("("), 0 if whole_ms_below else LARGEST_PART)
    return place.previous() if whole_ms_below else place


def resolve_start(groups: Groups, stream: str, state: StreamState, bounds: Bounds) -> EntryId:
    """The id after which reading starts."""
    bound = bounds.of(stream)
    if bound.kind is Kind.TIME:
        return time_position(stream, state, bound.ms, bounds.or_latest)
    return place_of(groups, stream, state, bound)


def resolve_end(groups: Groups, stream: str, state: StreamState, bounds: Bounds) -> EntryId:
    """The last id that is read."""
    bound = bounds.of(stream)
    if bound.kind is Kind.TIME:
        return min(EntryId.before_time(bound.ms), state.last_id)
    return place_of(groups, stream, state, bound)


def place_of(groups: Groups, stream: str, state: StreamState, bound: Bound) -> EntryId:
    """The id of a bound that is not a time, never beyond the last entry of the stream."""
    match bound.kind:
        case Kind.EARLIEST:
            return FIRST
        case Kind.LATEST:
            return state.last_id
        case Kind.GROUP:
            return group_position(groups, stream, state, bound.group)
    return min(bound.id, state.last_id)


def group_position(groups: Groups, stream: str, state: StreamState, group: str) -> EntryId:
    """The last id delivered to a group. Raises OptionError if there is no such group."""
    for candidate in groups(stream) if state.exists else ():
        if candidate.name == group:
            return candidate.last_delivered
    raise OptionError(f"stream {stream!r} has no group {group!r} to start or end at")


def time_position(stream: str, state: StreamState, ms: int, or_latest: bool) -> EntryId:
    """The id just below a time. Raises OptionError if all entries are older, unless *or_latest*."""
    if state.last_entry is not None and state.last_entry.ms >= ms:
        return EntryId.before_time(ms)
    if or_latest:
        return state.last_id
    raise OptionError(
        f"stream {stream!r} has no entry at or after {ms} ms; "
        "startingOffsetsByTimestampStrategy=latest would start at its end"
    )
