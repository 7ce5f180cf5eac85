"""What is read and how, from the options of ``spark.read`` and ``spark.readStream``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import redis

from pyspark_penstock import bounds, shared_options, stream_info
from pyspark_penstock.bounds import Bounds
from pyspark_penstock.columns import MODES
from pyspark_penstock.connection import RETRIES, Server
from pyspark_penstock.errors import OptionError
from pyspark_penstock.options import (
    BATCH_READING,
    READING,
    SERVER,
    STREAM_READING,
    Options,
    refusal,
)
from pyspark_penstock.shared_options import Sharing, sharing_of

VIEWS = ("entries", "streams", "groups", "consumers", "pending")
SUBSCRIPTIONS = ("subscribe", "subscribePattern", "assign")
MOST_DEFAULT_PARTITIONS = 4  # one server thread feeds no more
MAX_OFFSETS = 1_000_000


@dataclass(frozen=True)
class Subscription:
    """Which streams: by name, or all that match a glob."""

    streams: tuple[str, ...] = ()
    pattern: str = ""

    @classmethod
    def from_options(cls, options: Options) -> Subscription:
        """The subscription that options say. Raises OptionError."""
        options.at_most_one(*SUBSCRIPTIONS)
        if "subscribePattern" in options:
            return cls(pattern=options.text("subscribePattern"))
        if "assign" in options:
            return cls(tuple(sorted(options.json_object("assign"))))
        names = tuple(name.strip() for name in options.text("subscribe").split(","))
        if not all(names):
            raise OptionError("which streams? Give 'subscribe', 'subscribePattern' or 'assign'")
        return cls(tuple(dict.fromkeys(names)))

    def source(self) -> dict[str, Any]:
        """What a checkpoint remembers of it."""
        if self.pattern:
            return {"subscribePattern": self.pattern}
        return {"subscribe": sorted(self.streams)}

    def names(self, client: redis.Redis) -> list[str]:
        """The streams, as of now."""
        if not self.pattern:
            return list(self.streams)
        return stream_info.matching_streams(client, self.pattern)


@dataclass(frozen=True)
class ReadOptions:
    """What batch and stream readers have in common."""

    server: Server
    subscription: Subscription
    starting: Bounds
    min_partitions: int
    max_records_per_partition: int | None
    fail_on_data_loss: bool
    fetch_size: int
    max_entries_per_second: int | None
    retries: int
    include_metadata: bool
    infer_schema: bool
    value_format: str
    fields_format: str
    mode: str
    corrupt_column: str

    def client(self) -> redis.Redis:
        """A client that tries again as often as the options say."""
        return self.server.client(self.retries)


@dataclass(frozen=True)
class BatchOptions(ReadOptions):
    """What ``spark.read`` is told."""

    ending: Bounds
    push_down_filters: bool
    view: str


@dataclass(frozen=True)
class StreamOptions(ReadOptions):
    """What ``spark.readStream`` is told."""

    max_offsets: int
    max_bytes: int | None
    min_offsets: int
    max_delay_ms: int
    group: str
    sharing: Sharing | None


def batch_options(given: Mapping[str, str]) -> BatchOptions:
    """The options of a batch read. Raises OptionError."""
    options = Options(given, "batch reading", SERVER, READING, BATCH_READING)
    view = options.choice("view", *VIEWS)
    return BatchOptions(
        **common(options, bounds.EARLIEST, required=view == "entries"),
        ending=bounds.ending_bounds(options),
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
    most = shared_options.MAX_OFFSETS if sharing else MAX_OFFSETS
    return StreamOptions(
        **values,
        max_offsets=options.integer("maxOffsetsPerTrigger", most, least=1),
        max_bytes=optional(options, "maxBytesPerTrigger"),
        min_offsets=options.integer("minOffsetsPerTrigger", 0),
        max_delay_ms=options.duration_ms("maxTriggerDelay", "15m"),
        group=options.text("group"),
        sharing=sharing,
    )


def schema_options(given: Mapping[str, str]) -> tuple[ReadOptions, str]:
    """What a schema depends on, and the view: Spark asks before it says what reading it is."""
    options = Options(given, "reading", SERVER, READING, BATCH_READING, STREAM_READING)
    view = options.choice("view", *VIEWS)
    return ReadOptions(**common(options, bounds.EARLIEST, required=view == "entries")), view


def common(options: Options, start: bounds.Bound, required: bool = True) -> dict[str, Any]:
    """The values of ``ReadOptions``."""
    if required or any(name in options for name in SUBSCRIPTIONS):
        subscription = Subscription.from_options(options)
    else:
        subscription = Subscription(pattern="*")
    starting = bounds.starting_bounds(options, start)
    check_names(starting, subscription)
    return {
        "server": Server.from_options(options),
        "subscription": subscription,
        "starting": starting,
        "min_partitions": options.integer("minPartitions", default_partitions(), least=1),
        "max_records_per_partition": optional(options, "maxRecordsPerPartition"),
        "fail_on_data_loss": options.flag("failOnDataLoss", True),
        "fetch_size": options.integer("fetchSize", 1_000, least=1),
        "max_entries_per_second": optional(options, "maxEntriesPerSecond"),
        "retries": options.integer("fetchOffset.numRetries", RETRIES),
        "include_metadata": options.flag("includeMetadata", False),
        "infer_schema": options.flag("inferSchema", False),
        "value_format": options.choice("valueFormat", "binary", "string"),
        "fields_format": options.choice("fieldsFormat", "map", "array"),
        "mode": options.choice("mode", *MODES),
        "corrupt_column": options.text("columnNameOfCorruptRecord"),
    }


def check_names(starting: Bounds, subscription: Subscription) -> None:
    """Refuse bounds by stream that name other streams than those subscribed to, or not all."""
    named, streams = set(starting.by_stream), set(subscription.streams)
    if named and streams and named != streams:
        names = ", ".join(sorted(named ^ streams))
        raise refusal("startingOffsets", names, f"for just the streams {sorted(streams)}")


def assigned(options: Options) -> list[Any]:
    """The ranges of ``assign``, if it is given."""
    return list(options.json_object("assign").values()) if "assign" in options else []


def optional(options: Options, name: str) -> int | None:
    """A whole number of at least 1, or None where it is not given."""
    return options.integer(name, 1, least=1) if name in options else None


def default_partitions() -> int:
    """As many tasks as cores, up to MOST_DEFAULT_PARTITIONS."""
    return min(os.cpu_count() or 1, MOST_DEFAULT_PARTITIONS)
