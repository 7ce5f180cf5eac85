"""The options of ``spark.read`` and ``spark.readStream``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from pyspark_penstock.connect.address import Server
from pyspark_penstock.connect.client import Client
from pyspark_penstock.connect.dial import Preference
from pyspark_penstock.connect.fleet import Fleet
from pyspark_penstock.errors import OptionError
from pyspark_penstock.options import (
    BATCH_READING,
    FLEET,
    READING,
    SERVER,
    STREAM_READING,
    Options,
    refusal,
)
from pyspark_penstock.read import bounds, sharing_options
from pyspark_penstock.read.bounds import Bounds, Kind
from pyspark_penstock.read.columns import BAD_ROWS_LEAVE, FAILFAST, MODES, PERMISSIVE
from pyspark_penstock.read.position_group import PositionGroup
from pyspark_penstock.read.sharing_options import Sharing, sharing_of
from pyspark_penstock.read.subscription import SUBSCRIPTIONS, Subscription

ENTRIES = "entries"
VIEWS = ("streams", "groups", "consumers", "pending")  # the replies of XINFO and XPENDING
BAD_ROWS = ("column", "drop", "fail")
TO_STREAM = "stream:"
CORRUPT = "_corrupt_record"  # the column's name that Spark's own sources have
FORMATS = ("valueFormat", "fieldsFormat")
ABOUT_ENTRIES = (
    "assign", *FORMATS, "mode", "columnNameOfCorruptRecord", "includeMetadata", "inferSchema",
    "minPartitions", "maxRecordsPerPartition", "fetchSize", "maxEntriesPerSecond",
    "failOnDataLoss", "pushDownFilters",
    "startingOffsets", "startingTimestamp", "startingOffsetsByTimestamp",
    "endingOffsets", "endingTimestamp", "endingOffsetsByTimestamp",
)  # fmt: skip
MOST_DEFAULT_PARTITIONS = 4  # one server thread feeds no more
MAX_OFFSETS = 1_000_000
NOT_OF_GROUPS = ("endingOffsets", "endingTimestamp", "endingOffsetsByTimestamp", "badRows")


@dataclass(frozen=True)
class ReadOptions:
    """The options that batch reads and streaming reads have in common."""

    fleet: Fleet
    server: Server  # the one to which the options apply
    subscription: Subscription
    discovery_s: float | None
    starting: Bounds
    min_partitions: int
    max_records_per_partition: int | None
    fail_on_data_loss: bool
    fetch_size: int
    max_entries_per_second: int | None
    include_metadata: bool
    infer_schema: bool
    value_format: str
    fields_format: str
    formats: tuple[str, ...]  # those of the two that were given
    mode: str
    corrupt_column: str
    dead_letters: str  # the stream that gets bad rows, or an empty text

    def at(self, server: str) -> Self:
        """The options for one server of the fleet. Raises OptionError."""
        return replace(self, server=self.fleet.server(server))

    def client(self) -> Client:
        """A client of the server."""
        return Client(self.server)


@dataclass(frozen=True)
class BatchOptions(ReadOptions):
    """The options of ``spark.read``."""

    ending: Bounds
    push_down_filters: bool
    view: str


@dataclass(frozen=True)
class StreamOptions(ReadOptions):
    """The options of ``spark.readStream``."""

    ending: Bounds
    max_offsets: int
    max_bytes: int | None
    min_offsets: int
    max_delay_ms: int
    group: str
    group_takeover: bool
    sharing: Sharing | None

    @property
    def position_group(self) -> PositionGroup:
        """The group that shows the query's position. A shared group needs none."""
        return PositionGroup("" if self.sharing else self.group, self.group_takeover)

    def client(self) -> Client:
        """A client of the server; of its primary, if a group is used."""
        return Client(self.server, Preference.PRIMARY if self.group else Preference.ANY)


def batch_options(given: Mapping[str, str]) -> BatchOptions:
    """The options of a batch read. Raises OptionError."""
    options = Options(given, "batch reading", SERVER, FLEET, READING, BATCH_READING)
    view = view_of(options)
    values = common(options, bounds.EARLIEST, required=view == ENTRIES)
    ending = bounds.ending_bounds(options)
    check_endings(options, ending, values["subscription"])
    return BatchOptions(
        **values,
        ending=ending,
        push_down_filters=options.flag("pushDownFilters", False),
        view=view,
    )


def stream_options(given: Mapping[str, str]) -> StreamOptions:
    """The options of a stream read. Raises OptionError."""
    options = Options(given, "stream reading", SERVER, FLEET, READING, STREAM_READING)
    values = common(options, bounds.LATEST)
    ending = bounds.ending_bounds(options)
    check_endings(options, ending, values["subscription"])
    check_ends_of_a_query(ending)
    sharing = sharing_of(options, values["starting"])
    if sharing:
        options.refuse(FLEET, "contradicts groupMode=shared: a group is of one server")
        options.refuse(NOT_OF_GROUPS, "contradicts groupMode=shared: the group says what is read")
    most = sharing_options.MAX_OFFSETS if sharing else MAX_OFFSETS
    least, most = size_of_batches(options, most)
    return StreamOptions(
        **values,
        ending=ending,
        max_offsets=most,
        max_bytes=optional(options, "maxBytesPerTrigger"),
        min_offsets=least,
        max_delay_ms=delay_ms(options),
        group=group_of(options),
        group_takeover=options.flag("groupTakeover", False),
        sharing=sharing,
    )


def schema_options(given: Mapping[str, str]) -> tuple[ReadOptions, str]:
    """The options on which the schema depends, and the view.

    It is not known yet whether this is a batch read or a streaming read.
    """
    options = Options(given, "reading", SERVER, FLEET, READING, BATCH_READING, STREAM_READING)
    view = view_of(options)
    return ReadOptions(**common(options, bounds.EARLIEST, required=view == ENTRIES)), view


def view_of(options: Options) -> str:
    """What is read. Options about entries are refused for all other views. Raises OptionError."""
    view = options.choice("view", ENTRIES, *VIEWS)
    if view != ENTRIES:
        options.refuse(ABOUT_ENTRIES, f"is about entries, and contradicts view={view}")
        options.refuse(FLEET, "is for entries: a view is of one server")
    return view


def size_of_batches(options: Options, most: int) -> tuple[int, int]:
    """The smallest and the largest batch. *most* is the default of the largest.

    Raises OptionError.
    """
    least = options.integer("minOffsetsPerTrigger", 0)
    most = options.integer("maxOffsetsPerTrigger", most, least=1)
    if least > most:
        raise OptionError(
            f"minOffsetsPerTrigger={least} is above maxOffsetsPerTrigger={most}: "
            "give a larger maxOffsetsPerTrigger"
        )
    return least, most


def group_of(options: Options) -> str:
    """The consumer group, or an empty text. Raises OptionError."""
    group = options.text("group")
    if "group" in options and not group:
        raise refusal("group", group, "the name of a consumer group")
    return group


def delay_ms(options: Options) -> int:
    """How long to wait for a batch of minimum size. Raises OptionError."""
    delay = options.duration_ms("maxTriggerDelay", "15m")
    if "minOffsetsPerTrigger" not in options:
        options.refuse(["maxTriggerDelay"], "is how long 'minOffsetsPerTrigger' waits: give that")
    return delay


def common(options: Options, start: bounds.Bound, required: bool = True) -> dict[str, Any]:
    """The values of the fields of ``ReadOptions``. Raises OptionError."""
    if required or any(name in options for name in SUBSCRIPTIONS):
        subscription = Subscription.from_options(options)
    else:
        subscription = Subscription(pattern="*")
    bad_rows = treatment_of_bad_rows(options)
    check_dead_letters(bad_rows["dead_letters"], subscription)
    starting = bounds.starting_bounds(options, start)
    check_starts(options, starting, subscription)
    fleet = Fleet.from_options(options)
    return {
        "fleet": fleet,
        "server": fleet.servers[0][1],
        "subscription": subscription,
        "discovery_s": seconds(options, "discoveryInterval"),
        "starting": starting,
        "min_partitions": options.integer("minPartitions", default_partitions(), least=1),
        "max_records_per_partition": optional(options, "maxRecordsPerPartition"),
        "fail_on_data_loss": options.flag("failOnDataLoss", True),
        "fetch_size": options.integer("fetchSize", 1_000, least=1),
        "max_entries_per_second": optional(options, "maxEntriesPerSecond"),
        "include_metadata": options.flag("includeMetadata", False),
        "infer_schema": options.flag("inferSchema", False),
        "value_format": options.choice("valueFormat", "binary", "string"),
        "fields_format": options.choice("fieldsFormat", "map", "array"),
        "formats": tuple(name for name in FORMATS if name in options),
        **bad_rows,
    }


def treatment_of_bad_rows(options: Options) -> dict[str, str]:
    """What happens to rows with bad values. Raises OptionError."""
    corrupt = options.text("columnNameOfCorruptRecord")
    if "badRows" not in options:
        mode = options.choice("mode", *MODES)
        return {"mode": mode, "corrupt_column": corrupt, "dead_letters": ""}
    options.at_most_one("badRows", "mode")
    wanted = options.text("badRows")
    stream = wanted.removeprefix(TO_STREAM)
    if stream != wanted and stream:
        return {"mode": BAD_ROWS_LEAVE, "corrupt_column": corrupt, "dead_letters": stream}
    if wanted.lower() not in BAD_ROWS:
        raise refusal("badRows", wanted, "stream:NAME, column, drop or fail")
    mode = dict(zip(BAD_ROWS, (PERMISSIVE, BAD_ROWS_LEAVE, FAILFAST), strict=True))[wanted.lower()]
    if mode == PERMISSIVE:
        corrupt = corrupt or CORRUPT
    return {"mode": mode, "corrupt_column": corrupt, "dead_letters": ""}


def check_dead_letters(stream: str, subscription: Subscription) -> None:
    """Raises OptionError for a stream of bad rows that is read itself: it would grow for ever."""
    is_read = (
        subscription.matches(stream) if subscription.is_open else stream in subscription.streams
    )
    if stream and is_read:
        raise refusal("badRows", f"{TO_STREAM}{stream}", "a stream that the query does not read")


def seconds(options: Options, name: str) -> float | None:
    """A time in seconds; None if the option is not given. Raises OptionError."""
    return options.duration_ms(name, "0") / 1_000 if name in options else None


def check_starts(options: Options, starting: Bounds, subscription: Subscription) -> None:
    """Raises OptionError unless starts by stream are given for exactly the streams to read."""
    named, streams = set(starting.by_stream), set(subscription.streams)
    if named and streams and named != streams:
        names = ", ".join(sorted(named ^ streams))
        option = option_by_stream(options, "starting")
        raise refusal(option, names, f"for just the streams {sorted(streams)}")


def check_endings(options: Options, ending: Bounds, subscription: Subscription) -> None:
    """Raises OptionError for an end of a stream that is not read: its name may be misspelled."""
    streams = set(subscription.streams)
    unknown = set(ending.by_stream) - streams
    if unknown and streams:
        option, names = option_by_stream(options, "ending"), ", ".join(sorted(unknown))
        raise refusal(option, names, f"for streams of {sorted(streams)}")


def option_by_stream(options: Options, side: str) -> str:
    """The name of the option that gives bounds by stream."""
    times = f"{side}OffsetsByTimestamp"
    return times if times in options else f"{side}Offsets"


def check_ends_of_a_query(ending: Bounds) -> None:
    """Raises OptionError for an end that moves, or at which nothing would be read."""
    for bound in (ending.default, *ending.by_stream.values()):
        if bound.kind in {Kind.EARLIEST, Kind.GROUP}:
            raise OptionError(
                "'endingOffsets' of a stream that is read as it grows must be an id or a time, or "
                "latest, which means never"
            )


def optional(options: Options, name: str) -> int | None:
    """A whole number of at least 1; None if the option is not given."""
    return options.integer(name, 1, least=1) if name in options else None


def default_partitions() -> int:
    """The number of cores, at most MOST_DEFAULT_PARTITIONS."""
    return min(os.cpu_count() or 1, MOST_DEFAULT_PARTITIONS)
