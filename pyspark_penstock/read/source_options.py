"""The options of ``spark.read`` and ``spark.readStream``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import redis

from pyspark_penstock.connect import stream_info
from pyspark_penstock.connect.address import Server
from pyspark_penstock.connect.client import Client
from pyspark_penstock.connect.dial import Preference
from pyspark_penstock.errors import OptionError
from pyspark_penstock.options import (
    BATCH_READING,
    READING,
    SERVER,
    STREAM_READING,
    Options,
    refusal,
)
from pyspark_penstock.read import bounds, sharing_options
from pyspark_penstock.read.bounds import Bounds
from pyspark_penstock.read.columns import MODES
from pyspark_penstock.read.offsets import brief
from pyspark_penstock.read.position_group import PositionGroup
from pyspark_penstock.read.sharing_options import Sharing, sharing_of

ENTRIES = "entries"
VIEWS = ("streams", "groups", "consumers", "pending")  # the replies of XINFO and XPENDING
SUBSCRIPTIONS = ("subscribe", "subscribePattern", "assign")
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


@dataclass(frozen=True)
class Subscription:
    """Which streams to read: by name, or all that match a glob."""

    streams: tuple[str, ...] = ()
    pattern: str = ""

    @classmethod
    def from_options(cls, options: Options) -> Subscription:
        """The subscription in the options. Raises OptionError."""
        options.at_most_one(*SUBSCRIPTIONS)
        if "subscribePattern" in options:
            return cls(pattern=pattern_of(options))
        return cls(names_of(options))

    def source(self) -> dict[str, Any]:
        """The form in the checkpoint."""
        if self.pattern:
            return {"subscribePattern": self.pattern}
        return brief({"subscribe": sorted(self.streams)})

    def names(self, client: redis.Redis) -> list[str]:
        """The names of the streams, as of now."""
        if not self.pattern:
            return list(self.streams)
        return stream_info.matching_streams(client, self.pattern)


@dataclass(frozen=True)
class ReadOptions:
    """The options that batch reads and streaming reads have in common."""

    server: Server
    subscription: Subscription
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
    options = Options(given, "batch reading", SERVER, READING, BATCH_READING)
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
    options = Options(given, "stream reading", SERVER, READING, STREAM_READING)
    if any(bounds.pair(p)[1] not in {"latest", "+"} for p in assigned(options)):
        raise OptionError("'assign' of a stream that is read for ever must end at \"latest\"")
    values = common(options, bounds.LATEST)
    sharing = sharing_of(options, values["starting"])
    most = sharing_options.MAX_OFFSETS if sharing else MAX_OFFSETS
    least, most = size_of_batches(options, most)
    return StreamOptions(
        **values,
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
    options = Options(given, "reading", SERVER, READING, BATCH_READING, STREAM_READING)
    view = view_of(options)
    return ReadOptions(**common(options, bounds.EARLIEST, required=view == ENTRIES)), view


def view_of(options: Options) -> str:
    """What is read. Options about entries are refused for all other views. Raises OptionError."""
    view = options.choice("view", ENTRIES, *VIEWS)
    if view != ENTRIES:
        options.refuse(ABOUT_ENTRIES, f"is about entries, and contradicts view={view}")
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
    starting = bounds.starting_bounds(options, start)
    check_starts(options, starting, subscription)
    return {
        "server": Server.from_options(options),
        "subscription": subscription,
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
        "mode": options.choice("mode", *MODES),
        "corrupt_column": options.text("columnNameOfCorruptRecord"),
    }


def pattern_of(options: Options) -> str:
    """The glob of ``subscribePattern``."""
    pattern = options.text("subscribePattern")
    if not pattern:
        raise refusal("subscribePattern", pattern, "a glob; * is all streams")
    return pattern


def names_of(options: Options) -> tuple[str, ...]:
    """The names in ``assign`` or ``subscribe``, at least one."""
    if "assign" in options:
        streams = tuple(sorted(options.json_object("assign")))
        if not streams:
            raise refusal("assign", options.text("assign"), "ranges of at least one stream")
        return streams
    if "subscribe" not in options:
        raise OptionError("which streams? Give 'subscribe', 'subscribePattern' or 'assign'")
    names = tuple(name.strip() for name in options.text("subscribe").split(","))
    if not all(names):
        raise refusal("subscribe", options.text("subscribe"), "names of streams: one is empty")
    return tuple(dict.fromkeys(names))


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


def assigned(options: Options) -> list[Any]:
    """The ranges of ``assign``, if it is given."""
    return list(options.json_object("assign").values()) if "assign" in options else []


def optional(options: Options, name: str) -> int | None:
    """A whole number of at least 1; None if the option is not given."""
    return options.integer(name, 1, least=1) if name in options else None


def default_partitions() -> int:
    """The number of cores, at most MOST_DEFAULT_PARTITIONS."""
    return min(os.cpu_count() or 1, MOST_DEFAULT_PARTITIONS)
