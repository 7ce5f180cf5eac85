"""Reading a range: pages are joined into batches, and each entry is read once."""

from __future__ import annotations

import pytest
import redis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import types as t

from pyspark_penstock.connect import retry
from pyspark_penstock.connect.connection import Connection
from pyspark_penstock.connect.retry import Retry
from pyspark_penstock.entry_id import FIRST, EntryId
from pyspark_penstock.errors import ServerError
from pyspark_penstock.read import entry_reader
from pyspark_penstock.read.entry_reader import read_range
from pyspark_penstock.read.plan import Range
from pyspark_penstock.read.source_options import batch_options
from pyspark_penstock.schema import columns_of

LIKE_AN_ENTRY = b"\r\n*2\r\n$3\r\n9-0\r\n*2\r\n$1\r\na\r\n$1\r\nb"
SCHEMA = t.StructType([t.StructField("_id", t.StringType()), t.StructField("v", t.BinaryType())])
Rows = list[tuple[str, bytes | None]]


def read(at: dict[str, str], page_size: int, last: int = 20, **more: str) -> list[Rows]:
    """The rows of each batch of the stream ``s``, up to the entry *last*."""
    options = batch_options({**at, "subscribe": "s", "fetchSize": str(page_size)} | more)
    task = Range("s", FIRST, EntryId(last, 0), None)
    batches = read_range(task, columns_of(SCHEMA), options)
    return [[(row["_id"], row["v"]) for row in batch.to_pylist()] for batch in batches]


def fill(client: redis.Redis, values: list[bytes]) -> Rows:
    """Add entries of one field. Entries with an empty value have another field than the others."""
    for i, value in enumerate(values, 1):
        client.xadd("s", {"v": value} if value else {"w": b""}, id=f"{i}-0")
    return [(f"{i}-0", value or None) for i, value in enumerate(values, 1)]


@pytest.mark.parametrize(
    ("rows", "size", "expected"),
    [
        (10, 1 << 20, [9, 9, 2]),  # a fourth page would be too many rows
        (12, 1 << 20, [12, 8]),
        (1, 1 << 20, [3, 3, 3, 3, 3, 3, 2]),  # a page is never split
        (100, 1 << 20, [20]),
        (100, 1, [3, 3, 3, 3, 3, 3, 2]),
        (100, 250, [6, 6, 6, 2]),  # a page has 95 to 100 bytes
    ],
)
def test_a_batch_joins_pages_up_to_the_limits_of_rows_and_bytes(
    client: redis.Redis,
    at: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    rows: int,
    size: int,
    expected: list[int],
) -> None:
    monkeypatch.setattr(entry_reader, "ROWS", rows)
    monkeypatch.setattr(entry_reader, "BYTES", size)
    there = fill(client, [b"%d" % i for i in range(20)])
    batches = read(at, 3)
    assert [len(batch) for batch in batches] == expected
    assert [row for batch in batches for row in batch] == there


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(st.sampled_from([b"1", b"22", b"\r\n", LIKE_AN_ENTRY, b""]), max_size=20),
    st.integers(1, 7),
    st.integers(1, 12),
    st.sets(st.integers(2, 12)),
)
def test_each_entry_is_read_once_despite_lost_connections(
    client: redis.Redis,
    at: dict[str, str],
    values: list[bytes],
    page_size: int,
    rows: int,
    lost: set[int],
) -> None:
    """Values that look like entries make the scan request a wrong page."""
    client.flushall()
    there = fill(client, values)
    receive, calls = Connection.answer, [0]

    def answer_or_not(self: Connection) -> bytes:
        calls[0] += 1
        if calls[0] in lost:
            raise ConnectionResetError("cut")
        return receive(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Connection, "answer", answer_or_not)
        patch.setattr(retry, "FIRST_PAUSE_S", 0)
        patch.setattr(entry_reader, "ROWS", rows)
        batches = read(at, page_size, len(values))
    assert [row for batch in batches for row in batch] == there


@pytest.mark.parametrize("page_size", [2, 3, 4, 10])
def test_a_reader_waits_until_the_server_has_the_end_of_the_range(
    client: redis.Redis, at: dict[str, str], monkeypatch: pytest.MonkeyPatch, page_size: int
) -> None:
    """A lagging replica may lack it, if the batch was planned on the primary."""
    there = fill(client, [b"a", LIKE_AN_ENTRY, b"c", b"d"])
    client.xadd("s", {"v": "soon gone"}, id="7-0")
    client.xdel("s", "7-0")
    assert [row for batch in read(at, page_size, 7) for row in batch] == there
    pauses: list[float] = []

    def catch_up(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            client.xadd("s", {"v": b"e"}, id="8-0")

    monkeypatch.setattr(Retry, "sleep", staticmethod(catch_up))
    rows = [row for batch in read(at, page_size, 8) for row in batch]
    assert (rows, len(pauses)) == ([*there, ("8-0", b"e")], 3)


def test_a_server_that_never_has_the_end_is_an_error_with_fail_on_data_loss(
    client: redis.Redis, at: dict[str, str]
) -> None:
    at = at | {"retryTimeout": "0"}
    there = fill(client, [b"a", b"b"])
    with pytest.raises(ServerError, match="nothing after 2-0, and entries up to 3-0 were there"):
        read(at, 10, 3)
    assert read(at, 10, 3, failOnDataLoss="false") == [there]
    client.delete("s")
    with pytest.raises(ServerError, match="nothing after 0-0"):
        read(at, 10, 3)
