"""The page for users of Kafka's source: each option that it names does what it says."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
import redis
from pyspark.sql.streaming.datasource import ReadMaxRows
from pyspark.sql.types import StructType

from pyspark_penstock.entry_id import EntryId
from pyspark_penstock.errors import OptionError
from pyspark_penstock.read.bounds import Kind
from pyspark_penstock.read.source_options import batch_options, stream_options
from pyspark_penstock.read.stream_reader import PenstockStreamReader
from pyspark_penstock.write.sink_options import sink_options
from tests.spark.documented import KAFKA, ROOT

SCHEMA = StructType().add("i", "long")
# Of Spark's "Structured Streaming + Kafka Integration Guide": source, then sink.
OPTIONS = (
    "kafka.bootstrap.servers", "assign", "subscribe", "subscribePattern", "startingOffsets",
    "endingOffsets", "startingTimestamp", "endingTimestamp", "startingOffsetsByTimestamp",
    "endingOffsetsByTimestamp", "startingOffsetsByTimestampStrategy", "failOnDataLoss",
    "kafkaConsumer.pollTimeoutMs", "fetchOffset.numRetries", "fetchOffset.retryIntervalMs",
    "maxOffsetsPerTrigger", "minOffsetsPerTrigger", "maxTriggerDelay", "minPartitions",
    "maxRecordsPerPartition", "groupIdPrefix", "kafka.group.id", "includeHeaders", "topic",
)  # fmt: skip
STREAM = {"subscribe": "s"}


@pytest.mark.parametrize("option", OPTIONS)
def test_the_page_names_each_option_of_kafkas_source_and_sink(option: str) -> None:
    page = (ROOT / KAFKA).read_text("utf-8")
    assert f"`{option}`" in page


@pytest.fixture
def reader_of(at: dict[str, str]) -> Iterator[object]:
    """Makes readers, and stops them."""
    made: list[PenstockStreamReader] = []

    def make(**options: str) -> PenstockStreamReader:
        made.append(PenstockStreamReader(stream_options(at | options), SCHEMA))
        return made[-1]

    yield make
    for reader in made:
        reader.stop()


def add(client: redis.Redis, *values: int, stream: str = "s") -> None:
    for i in values:
        client.xadd(stream, {"i": i}, id=f"{i}-0")


def all_of(reader: PenstockStreamReader, rows: int = 1_000_000) -> list[int]:
    """The values of all batches until nothing comes any more."""
    offset, found = reader.initialOffset(), list[int]()
    while (end := reader.latestOffset(offset, ReadMaxRows(rows))) != offset:
        for partition in reader.partitions(offset, end):
            for batch in reader.read(partition):
                found += batch.column("i").to_pylist()
        offset = end
    return found


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('{"s": -2}', Kind.EARLIEST),
        ('{"s": -1}', Kind.LATEST),
        ('{"s": {"0": -2}}', Kind.EARLIEST),
        ('{"s": {"0": -1}}', Kind.LATEST),
        ('{"s": 1763}', Kind.ID),
    ],
)
def test_numbers_of_kafka_in_json(text: str, kind: Kind) -> None:
    bound = stream_options(STREAM | {"startingOffsets": text}).starting.of("s")
    assert bound.kind is kind
    assert kind is not Kind.ID or bound.id == EntryId(1763, 0).previous()


@pytest.mark.parametrize("text", ['{"s": -3}', '{"s": {"1": -2}}', '{"s": true}', '{"s": 1.5}'])
def test_other_numbers_and_partitions_are_refused(text: str) -> None:
    with pytest.raises(OptionError, match="startingOffsets"):
        stream_options(STREAM | {"startingOffsets": text})


def test_times_by_stream_may_name_the_only_partition() -> None:
    given = STREAM | {"startingOffsetsByTimestamp": '{"s": {"0": 5}}'}
    assert stream_options(given).starting.of("s").ms == 5


@pytest.mark.parametrize("read", [batch_options, stream_options, sink_options])
@pytest.mark.parametrize(
    "name", ["kafka.group.id", "kafka.bootstrap.servers", "fetchOffset.numRetries",
             "kafkaConsumer.pollTimeoutMs"],
)  # fmt: skip
def test_options_of_kafkas_clients_are_ignored_with_a_warning(
    read: object, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert callable(read)
    read(({"stream": "s"} if read is sink_options else STREAM) | {name: "1"})
    assert any(name.lower() in text and "ignored" in text for text in caplog.messages)


@pytest.mark.parametrize("name", ["groupIdPrefix", "includeHeaders"])
def test_what_has_another_meaning_is_refused(name: str) -> None:
    with pytest.raises(OptionError, match=f"'{name.lower()}' is no option"):
        stream_options(STREAM | {name: "x"})


@pytest.mark.parametrize(
    "options",
    [
        {"endingOffsets": "3"},
        {"endingOffsets": '{"s": "3-0"}'},
        {"endingTimestamp": "4"},
        {"endingOffsetsByTimestamp": '{"s": 4}'},
        {"assign": '{"s": ["earliest", "3-0"]}'},
    ],
    ids=str,
)
@pytest.mark.parametrize("rows", [1, 100])
def test_a_stream_can_end_while_it_is_streamed(
    client: redis.Redis, reader_of: object, options: dict[str, str], rows: int
) -> None:
    add(client, 1, 2, 3, 4, 5)
    assert callable(reader_of)
    given = options if "assign" in options else STREAM | {"startingOffsets": "earliest"} | options
    reader = reader_of(**given)
    assert all_of(reader, rows) == [1, 2, 3]
    end = reader.latestOffset(reader.initialOffset(), ReadMaxRows(100))
    assert end["streams"]["s"]["n"] == 3
    add(client, 6)
    assert reader.latestOffset(end, ReadMaxRows(100)) == end


def test_an_end_in_the_future_is_waited_for(client: redis.Redis, reader_of: object) -> None:
    assert callable(reader_of)
    add(client, 1, 2)
    reader = reader_of(subscribe="s", startingOffsets="earliest", endingTimestamp="5")
    first = reader.latestOffset(reader.initialOffset(), ReadMaxRows(100))
    assert first["streams"]["s"]["n"] == 2
    add(client, 4, 5, 6)
    second = reader.latestOffset(first, ReadMaxRows(100))
    assert (second["streams"]["s"]["id"], second["streams"]["s"]["n"]) == (
        "4-18446744073709551615",
        3,
    )
    assert reader.latestOffset(second, ReadMaxRows(100)) == second


def test_regular_expressions_match_whole_names(client: redis.Redis, reader_of: object) -> None:
    assert callable(reader_of)
    for value, stream in enumerate(("orders.eu", "orders.us", "orders-old", "my.orders.eu"), 1):
        add(client, value, stream=stream)
    given = {"patternType": "regex", "startingOffsets": "earliest"}
    reader = reader_of(subscribePattern=r"orders\..*", **given)
    assert sorted(all_of(reader)) == [1, 2]
    assert reader.initialOffset()["source"] == {
        "subscribePattern": r"orders\..*",
        "patternType": "regex",
    }
    glob = reader_of(subscribePattern="orders.*", startingOffsets="earliest")
    assert sorted(all_of(glob)) == [1, 2]


def test_small_batches_wait_for_more(client: redis.Redis, reader_of: object) -> None:
    assert callable(reader_of)
    reader = reader_of(
        subscribe="s", startingOffsets="earliest", minOffsetsPerTrigger="2", maxTriggerDelay="1h"
    )
    add(client, 1, 2, 3)
    first = reader.latestOffset(reader.initialOffset(), ReadMaxRows(100))
    add(client, 4)
    assert reader.latestOffset(first, ReadMaxRows(100)) == first
    add(client, 5)
    assert reader.latestOffset(first, ReadMaxRows(100))["streams"]["s"]["n"] == 5


def test_the_query_of_the_page_has_options_that_exist() -> None:
    page = (ROOT / KAFKA).read_text("utf-8")
    block = page[page.index("    live = ") :]
    given = dict(re.findall(r"""\.option\("([^"]+)", ["'](.+?)["']\)""", block))
    assert len(given) == 6
    given["subscribePattern"] = given["subscribePattern"].replace("\\\\", "\\")
    options = stream_options(given)
    assert options.subscription.matches("orders.eu")
    assert not options.subscription.matches("my.orders.eu")
    assert options.min_offsets == 1_000
