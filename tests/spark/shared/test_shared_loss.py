"""A shared group that lost entries or was deleted: errors and warnings with counts."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import redis

from pyspark_penstock.errors import CheckpointError, DataLossError, ServerError
from pyspark_penstock.shared.group_reader import SharedStreamReader
from tests.spark.shared.group import (
    GROUP,
    MakeReader,
    add,
    advance,
    first_batch,
    leave_pending,
    pending,
    values,
)

# ---------------------------------------------------------------------- lost entries


def test_deleted_entries_are_acknowledged_with_a_warning(
    client: redis.Redis, reader: SharedStreamReader, caplog: pytest.LogCaptureFixture
) -> None:
    add(client, "s", *range(1, 6))
    start, end = first_batch(reader)
    client.xdel("s", "2-0", "5-0")
    assert values(reader, start, end) == [1, 3, 4]
    assert "2 of 5 entries that were claimed had been deleted" in caplog.text
    reader.commit(end)
    assert pending(client) == []


def test_entries_trimmed_before_delivery_are_warned_of_once(
    client: redis.Redis, reader: SharedStreamReader, caplog: pytest.LogCaptureFixture
) -> None:
    add(client, "s", *range(1, 8))
    start, first = first_batch(reader, rows=2)
    assert values(reader, start, first) == [1, 2]
    client.xtrim("s", maxlen=2, approximate=False)
    second = advance(reader, first, 1)
    assert values(reader, first, second) == [6]
    assert values(reader, second, advance(reader, second)) == [7]
    assert caplog.text.count("3 entries were trimmed or deleted before group 'g' gave them") == 1


def test_a_stream_trimmed_to_nothing_is_warned_of_once(
    client: redis.Redis, reader: SharedStreamReader, caplog: pytest.LogCaptureFixture
) -> None:
    add(client, "s", 1, 2, 3)
    start = reader.initialOffset()
    client.xtrim("s", maxlen=0, approximate=False)
    assert advance(reader, start) == advance(reader, start) == start
    assert [record.getMessage() for record in caplog.records] == [
        "stream 's': 3 entries were trimmed or deleted before group 'g' gave them to anybody"
    ]


def test_entries_deleted_one_by_one_give_no_warning(
    client: redis.Redis, reader: SharedStreamReader, caplog: pytest.LogCaptureFixture
) -> None:
    """Redis 7.0 counts them as neither read nor lost."""
    add(client, "s", *range(1, 8))
    start, first = first_batch(reader, rows=2)
    client.xdel("s", "3-0", "4-0")
    assert values(reader, start, first) == [1, 2]
    second = advance(reader, first)
    assert values(reader, first, second) == [5, 6, 7]
    client.xtrim("s", maxlen=0, approximate=False)
    assert advance(reader, second) == second
    assert not caplog.records


def test_trimming_entries_that_were_read_gives_no_warning(
    client: redis.Redis, reader: SharedStreamReader, caplog: pytest.LogCaptureFixture
) -> None:
    add(client, "s", 1, 2, 3)
    start, first = first_batch(reader)
    assert values(reader, start, first) == [1, 2, 3]
    client.xtrim("s", maxlen=0, approximate=False)
    add(client, "s", 4)
    assert values(reader, first, advance(reader, first)) == [4]
    assert not caplog.records


def take_over(client: redis.Redis) -> None:
    leave_pending(client, 2, 3, name="thief")


def acknowledge(client: redis.Redis) -> None:
    client.xack("s", GROUP, "2-0", "3-0")


@pytest.mark.parametrize("take", [take_over, acknowledge])
def test_a_batch_whose_entries_others_took_fails_or_warns_with_the_count(
    client: redis.Redis,
    reader_of: MakeReader,
    caplog: pytest.LogCaptureFixture,
    take: Callable[[redis.Redis], None],
) -> None:
    add(client, "s", 1, 2, 3, 4)
    start, end = first_batch(reader_of())
    take(client)
    with pytest.raises(DataLossError, match=r"2 of 4 entries .* are not pending"):
        reader_of().partitions(start, end)
    lenient = reader_of(failOnDataLoss="false")
    assert values(lenient, start, end) == [1, 4]
    assert "2 of 4 entries" in caplog.text


def test_a_task_detects_entries_taken_by_others(
    client: redis.Redis, reader: SharedStreamReader
) -> None:
    add(client, "s", 1, 2, 3, 4)
    (task,) = reader.partitions(*first_batch(reader))
    take_over(client)
    with pytest.raises(DataLossError, match=r"2 of 4 entries .* are not pending"):
        list(reader.read(task))


def test_a_batch_whose_group_was_deleted_is_lost_completely(
    client: redis.Redis, reader: SharedStreamReader
) -> None:
    add(client, "s", 1, 2)
    start, end = first_batch(reader)
    client.xgroup_destroy("s", GROUP)
    with pytest.raises(DataLossError, match="2 of 2 entries"):
        reader.partitions(start, end)


def test_a_deleted_group_is_not_created_again(
    client: redis.Redis, reader: SharedStreamReader
) -> None:
    """A group created at the stream's beginning would deliver everything again."""
    add(client, "s", 1, 2)
    _, end = first_batch(reader)
    client.xgroup_destroy("s", GROUP)
    with pytest.raises(CheckpointError, match="stream 's' has no group 'g' any more"):
        advance(reader, end)
    client.delete("s")
    assert advance(reader, end) == end
    client.xadd("s", {"i": 1})
    with pytest.raises(CheckpointError, match="XGROUP CREATE"):
        advance(reader, end)


def test_a_checkpoint_of_another_group_or_source_is_refused(
    client: redis.Redis, reader_of: MakeReader
) -> None:
    add(client, "s", 1)
    start = reader_of(group="other").initialOffset()
    with pytest.raises(CheckpointError, match=r"'group': 'other'.* this one reads .*'group': 'g'"):
        advance(reader_of(), start)
    with pytest.raises(CheckpointError, match="groupMode=shared"):
        advance(reader_of(), {"source": {"subscribe": ["s"]}, "streams": {}})


def test_a_key_of_another_type_is_an_error(client: redis.Redis, reader: SharedStreamReader) -> None:
    client.set("s", "text")
    with pytest.raises(ServerError, match="stream 's': WRONGTYPE"):
        reader.initialOffset()
