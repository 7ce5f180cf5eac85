"""Position groups: a query moves those that it has created, and no others."""

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
from pyspark_penstock.read.offsets import Offset, Position
from pyspark_penstock.read.position_group import PositionGroup
from pyspark_penstock.read.source_options import stream_options
from pyspark_penstock.read.stream_reader import PenstockStreamReader
from tests.spark.stored import xreadgroup

SCHEMA = StructType().add("i", "long")
Json = dict[str, Any]
MakeReader = Callable[..., PenstockStreamReader]


@pytest.fixture
def driver(at: dict[str, str]) -> Iterator[Client]:
    """The client with which a query moves its groups."""
    with Client(Server.from_environment(at)) as driver:
        yield driver


@pytest.fixture
def reader_of(at: dict[str, str]) -> Iterator[MakeReader]:
    """Makes readers with the position group ``g``, and stops them."""
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


def place_of(client: redis.Redis, stream: str = "s") -> bytes:
    (group,) = client.xinfo_groups(stream)
    place: bytes = group["last-delivered-id"]
    return place


def consumers(client: redis.Redis, stream: str = "s") -> list[bytes]:
    return [consumer["name"] for consumer in client.xinfo_consumers(stream, "g")]


def test_a_group_of_workers_gets_what_it_has_not_read(
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


def test_a_group_that_somebody_has_made_and_not_read_by_yet_is_refused(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s", 1)
    client.xgroup_create("s", "g", "0")
    with pytest.raises(OptionError, match="was not made by this query, or by an older version"):
        reader_of().initialOffset()


def test_a_query_that_goes_on_moves_the_group_that_it_has_made(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s", 1, 2)
    end = one_batch(reader_of())
    add(client, "s", 3)
    one_batch(reader_of(), end)
    assert place_of(client) == b"3-0"
    assert consumers(client) == [f"spark-signpost-{end['query']}".encode()]


def test_a_query_that_died_before_its_first_batch_was_done_has_made_no_group(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    """The query's id is in the checkpoint only after that batch."""
    add(client, "s", 1)
    dead = reader_of(startingOffsets="latest")
    start = dead.initialOffset()
    assert dead.latestOffset(start, ReadAllAvailable()) == start
    assert client.xinfo_groups("s") == []
    add(client, "s", 2)
    planned = dead.latestOffset(start, ReadAllAvailable())
    again = reader_of(startingOffsets="latest")
    assert [p.value.upto for p in again.partitions(again.initialOffset(), planned)] == [
        EntryId(2, 0)
    ]
    one_batch(again, planned)
    assert place_of(client) == b"2-0"


def test_with_its_checkpoint_deleted_a_query_does_not_know_its_group(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s", 1)
    one_batch(reader_of())
    with pytest.raises(OptionError, match=r"is another query's, or was this one's before its che"):
        reader_of().initialOffset()


def test_two_queries_do_not_move_the_same_group_in_turns(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s", 1)
    one, other = reader_of(), reader_of()
    starts = [reader.initialOffset() for reader in (one, other)]
    one_batch(one, starts[0])
    with pytest.raises(OptionError, match="is another query's"):
        one_batch(other, starts[1])


def test_a_group_that_workers_have_joined_is_moved_no_more(
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
    assert place_of(client) == b"1-0"


def test_a_group_that_was_deleted_and_made_by_somebody_else_is_theirs(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s", 1)
    end = one_batch(reader_of())
    client.xgroup_destroy("s", "g")
    client.xgroup_create("s", "g", "0")
    with pytest.raises(OptionError, match="was not made by this query"):
        one_batch(reader_of(), end)
    assert place_of(client) == b"0-0"


def test_a_stream_that_is_another_one_by_now_gets_no_group(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    """The error asks for a new checkpoint.

    With that the query would be refused because of the group.
    """
    add(client, "s", 1, 2)
    end = one_batch(reader_of())
    client.delete("s")
    add(client, "s", 1)
    with pytest.raises(CheckpointError, match="it lost data, or it is another"):
        reader_of().latestOffset(end, ReadAllAvailable())
    assert client.xinfo_groups("s") == []


def test_a_group_that_was_deleted_is_made_again(client: redis.Redis, reader_of: MakeReader) -> None:
    add(client, "s", 1)
    end = one_batch(reader_of())
    client.xgroup_destroy("s", "g")
    one_batch(reader_of(), end)
    assert place_of(client) == b"1-0"


def test_the_group_of_a_stream_that_appears_is_looked_at_before_the_stream_is_read(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s1", 1)
    end = one_batch(reader := reader_of("s*"))
    add(client, "s2", 1)
    client.xgroup_create("s2", "g", "0")
    with pytest.raises(OptionError, match="group 'g' of stream 's2' was not made"):
        reader.latestOffset(end, ReadAllAvailable())
    assert place_of(client, "s2") == b"0-0"


def test_a_takeover_makes_the_group_the_querys_own(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s", 1)
    end = one_batch(one := reader_of())
    add(client, "s", 2)
    taken = one_batch(reader_of(groupTakeover="true"))
    assert place_of(client) == b"2-0"
    with pytest.raises(OptionError, match="is another query's"):
        one_batch(one, one.latestOffset(end, ReadAllAvailable()))
    add(client, "s", 3)
    one_batch(reader_of(), taken)  # the option is not needed any more
    assert place_of(client) == b"3-0"


def test_a_takeover_moves_a_group_of_workers_and_leaves_them_what_they_have(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s", 1, 2)
    client.xgroup_create("s", "g", "0")
    client.xreadgroup("g", "ann", {"s": ">"}, count=1)
    end = one_batch(reader_of(groupTakeover="true"))
    assert place_of(client) == b"2-0"
    assert client.xpending("s", "g")["consumers"] == [{"name": b"ann", "pending": 1}]
    with pytest.raises(OptionError, match=r"\(consumers: 1, pending entries: 1\)"):
        one_batch(reader_of(), end)


def test_a_group_of_this_query_that_is_made_twice_at_once_is_its_own(
    client: redis.Redis, driver: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its reader and the job that runs it may do so."""
    add(client, "s", 1)
    offset = Offset({}, {"s": Position(EntryId(1, 0), 1)}, "query")
    PositionGroup("g").publish(driver, offset)
    monkeypatch.setattr(PositionGroup, "_consumers", lambda *_: None)
    PositionGroup("g").publish(driver, offset)
    assert consumers(client) == [position_group.consumer_of("query").encode()]


def test_a_group_that_somebody_makes_at_the_very_moment_is_theirs(
    client: redis.Redis, driver: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(client, "s", 1)
    client.xgroup_create("s", "g", "0")
    monkeypatch.setattr(PositionGroup, "_consumers", lambda *_: None)
    with pytest.raises(OptionError, match="was not made by this query"):
        PositionGroup("g").publish(driver, Offset({}, {"s": Position(EntryId(1, 0), 1)}, "query"))
    assert consumers(client) == []
    assert place_of(client) == b"0-0"


def test_a_stream_that_is_deleted_at_the_very_moment_is_left_alone(
    client: redis.Redis, driver: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    offset = Offset({}, {"s": Position(EntryId(1, 0), 1)}, "query")
    PositionGroup("g").publish(driver, offset)
    monkeypatch.setattr(PositionGroup, "_consumers", lambda *_: [])
    PositionGroup("g", takeover=True).publish(driver, offset)
    add(client, "s", 1)
    PositionGroup("g", takeover=True).publish(
        driver, offset
    )  # the group is gone, the stream is not
    assert client.xinfo_groups("s") == []


def test_a_checkpoint_without_a_query_has_one_that_stays(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s", 1)
    old = one_batch(reader_of(group="other"))
    del old["query"]
    end = one_batch(reader_of(), old)
    add(client, "s", 2)
    assert one_batch(reader_of(), end)["query"] == ""
    assert consumers(client) == [b"spark-signpost-"]
