"""Position groups: a query moves only groups that it has created."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import redis
from pyspark.sql.streaming.datasource import ReadAllAvailable
from pyspark.sql.types import StructType

from pyspark_penstock.connect.address import Server
from pyspark_penstock.connect.client import Client
from pyspark_penstock.entry_id import EntryId
from pyspark_penstock.errors import CheckpointError, OptionError
from pyspark_penstock.read import position_group
from pyspark_penstock.read.offsets import Offset
from pyspark_penstock.read.position_group import PositionGroup
from pyspark_penstock.read.positions import Position
from pyspark_penstock.read.source_options import stream_options
from pyspark_penstock.read.stream_reader import PenstockStreamReader
from tests.spark.stored import xreadgroup

SCHEMA = StructType().add("i", "long")
Json = dict[str, Any]
MakeReader = Callable[..., PenstockStreamReader]


@pytest.fixture
def driver_client(at: dict[str, str]) -> Iterator[Client]:
    """The client with which a query moves its groups."""
    with Client(Server.from_environment(at)) as driver_client:
        yield driver_client


@pytest.fixture
def reader_of(at: dict[str, str]) -> Iterator[MakeReader]:
    """Makes readers with the position group ``g``, and stops them at the end."""
    made = []

    def make(subscribe: str = "s", **options: str) -> PenstockStreamReader:
        which = "subscribePattern" if "*" in subscribe else "subscribe"
        given = {which: subscribe, "group": "g", "startingOffsets": "earliest"} | options
        made.append(PenstockStreamReader(stream_options(at | given), SCHEMA))
        return made[-1]

    yield make
    for reader in made:
        reader.stop()


def add(client: redis.Redis, stream: str, *values: int) -> None:
    """Add entries whose ids are their values: 1-0, 2-0, ..."""
    for i in values:
        client.xadd(stream, {"i": i}, id=f"{i}-0")


def one_batch(reader: PenstockStreamReader, start: Json | None = None) -> Json:
    """Run one batch and commit it. Returns its end."""
    end = reader.latestOffset(start or reader.initialOffset(), ReadAllAvailable())
    reader.commit(end)
    return end


def last_delivered_id_of(client: redis.Redis, stream: str = "s") -> bytes:
    (group,) = client.xinfo_groups(stream)
    last_delivered_id: bytes = group["last-delivered-id"]
    return last_delivered_id


def consumers(client: redis.Redis, stream: str = "s") -> list[bytes]:
    return [consumer["name"] for consumer in client.xinfo_consumers(stream, "g")]


def test_a_group_with_other_consumers_is_not_moved(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s", *range(1, 101))
    client.xgroup_create("s", "g", "0")
    client.xreadgroup("g", "ann", {"s": ">"}, count=10)
    with pytest.raises(OptionError) as refused:
        reader_of().initialOffset()
    assert str(refused.value) == (
        "group 'g' of stream 's' is read by others (consumers: 1, pending entries: 10); "
        "give the query a group of its own, or groupTakeover=true to move this one all the same"
    )
    ((_, entries),) = xreadgroup(client, "g", "ann", "s")
    assert len(entries) == 90


def test_a_group_made_by_somebody_else_is_refused_even_if_unused(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s", 1)
    client.xgroup_create("s", "g", "0")
    with pytest.raises(OptionError, match="was not made by this query, or by an older version"):
        reader_of().initialOffset()


def test_a_restarted_query_moves_its_own_group(client: redis.Redis, reader_of: MakeReader) -> None:
    add(client, "s", 1, 2)
    end = one_batch(reader_of())
    add(client, "s", 3)
    one_batch(reader_of(), end)
    assert last_delivered_id_of(client) == b"3-0"
    assert consumers(client) == [f"spark-signpost-{end['query']}".encode()]


def test_no_group_is_created_before_the_first_batch_is_done(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    """Only that batch puts the query's id into the checkpoint."""
    add(client, "s", 1)
    dead = reader_of(startingOffsets="latest")
    start = dead.initialOffset()
    assert dead.latestOffset(start, ReadAllAvailable()) == start
    assert client.xinfo_groups("s") == []
    add(client, "s", 2)
    planned = dead.latestOffset(start, ReadAllAvailable())
    again = reader_of(startingOffsets="latest")
    (task,) = again.partitions(again.initialOffset(), planned)
    assert [each.upto for each in task.value.ranges] == [EntryId(2, 0)]
    one_batch(again, planned)
    assert last_delivered_id_of(client) == b"2-0"


def test_without_its_checkpoint_a_query_s_group_is_refused(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s", 1)
    one_batch(reader_of())
    with pytest.raises(OptionError, match=r"is another query's, or was this one's before its che"):
        reader_of().initialOffset()


def test_two_queries_cannot_move_the_same_group(client: redis.Redis, reader_of: MakeReader) -> None:
    add(client, "s", 1)
    one, other = reader_of(), reader_of()
    starts = [reader.initialOffset() for reader in (one, other)]
    one_batch(one, starts[0])
    with pytest.raises(OptionError, match="is another query's"):
        one_batch(other, starts[1])


def test_a_group_that_other_consumers_joined_is_refused(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s", 1)
    end = one_batch(reader := reader_of())
    client.xgroup_createconsumer("s", "g", "ann")
    add(client, "s", 2)
    with pytest.raises(OptionError, match=r"\(consumers: 1, pending entries: 0\)"):
        one_batch(reader, end)
    with pytest.raises(OptionError, match="is read by others"):  # before a batch is replayed, too
        reader_of().partitions(end, end)
    assert last_delivered_id_of(client) == b"1-0"


def test_a_group_deleted_and_made_again_by_somebody_else_is_refused(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s", 1)
    end = one_batch(reader_of())
    client.xgroup_destroy("s", "g")
    client.xgroup_create("s", "g", "0")
    with pytest.raises(OptionError, match="was not made by this query"):
        one_batch(reader_of(), end)
    assert last_delivered_id_of(client) == b"0-0"


def test_no_group_is_created_on_a_recreated_stream(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    """The error asks for a new checkpoint, with which such a group would be refused."""
    add(client, "s", 1, 2)
    end = one_batch(reader_of())
    client.delete("s")
    add(client, "s", 1)
    with pytest.raises(CheckpointError, match="it lost data, or it is another"):
        reader_of().latestOffset(end, ReadAllAvailable())
    assert client.xinfo_groups("s") == []


def test_a_deleted_group_is_created_again(client: redis.Redis, reader_of: MakeReader) -> None:
    add(client, "s", 1)
    end = one_batch(reader_of())
    client.xgroup_destroy("s", "g")
    one_batch(reader_of(), end)
    assert last_delivered_id_of(client) == b"1-0"


def test_the_group_of_a_new_stream_is_checked_before_the_stream_is_read(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s1", 1)
    end = one_batch(reader := reader_of("s*"))
    add(client, "s2", 1)
    client.xgroup_create("s2", "g", "0")
    with pytest.raises(OptionError, match="group 'g' of stream 's2' was not made"):
        reader.latestOffset(end, ReadAllAvailable())
    assert last_delivered_id_of(client, "s2") == b"0-0"


def test_a_takeover_makes_the_group_the_query_s_own(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s", 1)
    end = one_batch(one := reader_of())
    add(client, "s", 2)
    taken = one_batch(reader_of(groupTakeover="true"))
    assert last_delivered_id_of(client) == b"2-0"
    with pytest.raises(OptionError, match="is another query's"):
        one_batch(one, one.latestOffset(end, ReadAllAvailable()))
    add(client, "s", 3)
    one_batch(reader_of(), taken)  # no longer needs the option
    assert last_delivered_id_of(client) == b"3-0"


def test_a_takeover_leaves_other_consumers_their_pending_entries(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s", 1, 2)
    client.xgroup_create("s", "g", "0")
    client.xreadgroup("g", "ann", {"s": ">"}, count=1)
    end = one_batch(reader_of(groupTakeover="true"))
    assert last_delivered_id_of(client) == b"2-0"
    assert client.xpending("s", "g")["consumers"] == [{"name": b"ann", "pending": 1}]
    with pytest.raises(OptionError, match=r"\(consumers: 1, pending entries: 1\)"):
        one_batch(reader_of(), end)


def test_a_query_can_create_its_group_twice_at_once(
    client: redis.Redis, driver_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its reader and the job that runs it can do so."""
    add(client, "s", 1)
    offset = Offset({}, {"s": Position(EntryId(1, 0), 1)}, "query")
    PositionGroup("g").publish(driver_client, offset)
    monkeypatch.setattr(PositionGroup, "_consumers", lambda *_: None)
    PositionGroup("g").publish(driver_client, offset)
    assert consumers(client) == [position_group.consumer_of("query").encode()]


def test_a_group_that_somebody_else_creates_at_the_same_moment_is_refused(
    client: redis.Redis, driver_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(client, "s", 1)
    client.xgroup_create("s", "g", "0")
    monkeypatch.setattr(PositionGroup, "_consumers", lambda *_: None)
    with pytest.raises(OptionError, match="was not made by this query"):
        PositionGroup("g").publish(
            driver_client, Offset({}, {"s": Position(EntryId(1, 0), 1)}, "query")
        )
    assert consumers(client) == []
    assert last_delivered_id_of(client) == b"0-0"


def test_a_stream_deleted_at_the_same_moment_gets_no_group(
    client: redis.Redis, driver_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    offset = Offset({}, {"s": Position(EntryId(1, 0), 1)}, "query")
    PositionGroup("g").publish(driver_client, offset)
    monkeypatch.setattr(PositionGroup, "_consumers", lambda *_: [])
    PositionGroup("g", takeover=True).publish(driver_client, offset)
    add(client, "s", 1)
    PositionGroup("g", takeover=True).publish(
        driver_client, offset
    )  # the group is gone, the stream is not
    assert client.xinfo_groups("s") == []


def test_a_checkpoint_without_a_query_id_keeps_an_empty_one(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s", 1)
    old = one_batch(reader_of(group="other"))
    del old["query"]
    end = one_batch(reader_of(), old)
    add(client, "s", 2)
    assert one_batch(reader_of(), end)["query"] == ""
    assert consumers(client) == [b"spark-signpost-"]
