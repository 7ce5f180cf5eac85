"""Reading a range: many answers become few batches, and nothing is lost or repeated on the way."""

from __future__ import annotations

import pytest
import redis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import types as t

from pyspark_penstock import entry_reader, scan
from pyspark_penstock.entry_reader import read_range
from pyspark_penstock.ids import FIRST, LAST
from pyspark_penstock.plan import Range
from pyspark_penstock.schema import columns_of
from pyspark_penstock.source_options import batch_options
from pyspark_penstock.wire import Wire

LIKE_AN_ENTRY = b"\r\n*2\r\n$3\r\n9-0\r\n*2\r\n$1\r\na\r\n$1\r\nb"
SCHEMA = t.StructType([t.StructField("_id", t.StringType()), t.StructField("v", t.BinaryType())])
Rows = list[tuple[str, bytes | None]]


def read(at: dict[str, str], page_size: int) -> list[Rows]:
    """The rows of each batch of the stream ``s``."""
    options = batch_options({**at, "subscribe": "s", "fetchSize": str(page_size)})
    batches = read_range(Range("s", FIRST, LAST, None), columns_of(SCHEMA), options)
    return [[(row["_id"], row["v"]) for row in batch.to_pylist()] for batch in batches]


def fill(client: redis.Redis, values: list[bytes]) -> Rows:
    """One field an entry; the entries of empty values have another field."""
    for i, value in enumerate(values, 1):
        client.xadd("s", {"v": value} if value else {"w": b""}, id=f"{i}-0")
    return [(f"{i}-0", value or None) for i, value in enumerate(values, 1)]


@pytest.mark.parametrize(
    ("rows", "size", "expected"),
    [
        (10, 1 << 20, [9, 9, 2]),  # a fourth page would be too many rows
        (12, 1 << 20, [12, 8]),
        (1, 1 << 20, [3, 3, 3, 3, 3, 3, 2]),  # a page is never cut
        (100, 1 << 20, [20]),
        (100, 1, [3, 3, 3, 3, 3, 3, 2]),
        (100, 250, [6, 6, 6, 2]),  # a page is of 95 to 100 bytes
    ],
)
def test_batches_are_of_as_many_pages_as_may_be_held(
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
def test_any_pages_and_lost_connections_give_each_entry_once(
    client: redis.Redis,
    at: dict[str, str],
    values: list[bytes],
    page_size: int,
    rows: int,
    lost: set[int],
) -> None:
    """Values that look like entries make the scan ask behind a wrong id."""
    client.flushall()
    there = fill(client, values)
    receive, calls = Wire.answer, [0]

    def answer_or_not(self: Wire) -> bytes:
        calls[0] += 1
        if calls[0] in lost:
            raise ConnectionResetError("cut")
        return receive(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Wire, "answer", answer_or_not)
        patch.setattr(scan, "FIRST_PAUSE_S", 0)
        patch.setattr(entry_reader, "ROWS", rows)
        batches = read(at, page_size)
    assert [row for batch in batches for row in batch] == there
