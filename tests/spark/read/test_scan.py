"""Scans and counts: pages come in order despite wrong guesses and lost connections."""

from __future__ import annotations

from dataclasses import replace

import pytest
import redis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyspark_penstock.connect import retry
from pyspark_penstock.connect.address import Server
from pyspark_penstock.connect.connection import Connection
from pyspark_penstock.entry_id import FIRST, LAST, EntryId
from pyspark_penstock.errors import ServerError
from pyspark_penstock.options import SERVER, Options
from pyspark_penstock.read.entry_count import count_entries, count_up_to
from pyspark_penstock.read.scan import Scan, probable_last_id
from tests.spark.answers import Entry, answer


@pytest.fixture
def address(at: dict[str, str]) -> Server:
    return Server.from_options(Options(at, "a test", SERVER))


def fill(client: redis.Redis, count: int) -> None:
    for i in range(1, count + 1):
        client.xadd("s", {"i": i}, id=f"{i}-0")


def ids_of(scan: Scan) -> list[str]:
    return [text.decode() for page in scan for text in page.ids.to_pylist()]


def some_ids(first: int, last: int) -> list[str]:
    return [f"{i}-0" for i in range(first, last + 1)]


@pytest.mark.parametrize("page_size", [1, 3, 10, 100])
def test_a_range_is_read_page_by_page(client: redis.Redis, address: Server, page_size: int) -> None:
    fill(client, 10)
    assert ids_of(Scan(address, "s", FIRST, LAST, page_size)) == some_ids(1, 10)
    assert ids_of(Scan(address, "s", EntryId(3, 0), EntryId(7, 0), page_size)) == some_ids(4, 7)
    assert ids_of(Scan(address, "s", EntryId(10, 0), LAST, page_size)) == []


def test_a_missing_stream_is_an_empty_range(client: redis.Redis, address: Server) -> None:
    assert ids_of(Scan(address, "nothing", FIRST, LAST, 10)) == []


def test_values_that_look_like_entries_only_mislead_the_guess(
    client: redis.Redis, address: Server
) -> None:
    for i in range(1, 11):
        client.xadd("s", {"v": b"\r\n*2\r\n$3\r\n%d-0\r\n" % (20 - i)}, id=f"{i}-0")
    assert ids_of(Scan(address, "s", FIRST, LAST, 3)) == some_ids(1, 10)
    assert ids_of(Scan(address, "s", FIRST, EntryId(8, 0), 2)) == some_ids(1, 8)


def test_the_last_id_is_guessed_from_the_answer() -> None:
    entries: list[Entry] = [(b"1-1", [(b"a", b"b")]), (b"1763000062499-3", [(b"a", b"")])]
    assert probable_last_id(answer(entries)) == EntryId(1763000062499, 3)
    entries[1] = (b"1763000062499-3", [(b"a", b"\r\n*2\r\n$1\r\nb\r\n*2\r\n$1\r\nc\r\n")])
    assert probable_last_id(answer(entries)) is None


def test_after_a_lost_connection_a_scan_continues_where_it_was(
    client: redis.Redis, address: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(client, 10)
    monkeypatch.setattr(retry, "FIRST_PAUSE_S", 0)
    original, calls = Connection.answer, [0]

    def answer_or_not(self: Connection) -> bytes:
        calls[0] += 1
        if calls[0] % 2 == 0:
            raise ConnectionResetError("cut")
        return original(self)

    monkeypatch.setattr(Connection, "answer", answer_or_not)
    assert ids_of(Scan(address, "s", FIRST, LAST, 3)) == some_ids(1, 10)
    assert calls[0] > 4


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.integers(0, 20),
    st.integers(0, 22),
    st.integers(1, 25),
    st.integers(1, 7),
    st.integers(1, 6),
)
def test_counting_agrees_with_a_list(
    client: redis.Redis, address: Server, entries: int, after: int, most: int, step: int, page: int
) -> None:
    client.flushall()
    fill(client, entries)
    scan = Scan(address, "s", EntryId(after, 0), LAST, page)
    counted = count_up_to(scan, most=most, step=step)
    there = list(range(after + 1, entries + 1))
    passed = there[:most]
    assert counted.entries == len(passed)
    assert counted.id == EntryId(passed[-1] if passed else after, 0)
    marks = [(mark.id.ms, mark.n) for mark in counted.marks]
    assert marks == [(passed[n - 1], n) for n in range(step, len(passed), step)]
    if counted.all:
        assert passed == there


def test_count_entries_counts_a_range(client: redis.Redis, address: Server) -> None:
    fill(client, 30)
    assert count_entries(Scan(address, "s", FIRST, LAST, 7)) == 30
    assert count_entries(Scan(address, "s", EntryId(10, 0), EntryId(20, 0), 7)) == 10


def test_counting_waits_for_a_lagging_replica(client: redis.Redis, address: Server) -> None:
    address = replace(address, retry_s=0)
    fill(client, 10)

    def scan(wait: bool) -> Scan:
        return Scan(address, "s", FIRST, EntryId(11, 0), 7, wait=wait)

    assert count_up_to(scan(wait=False)).entries == 10
    with pytest.raises(ServerError, match="nothing after 10-0, and entries up to 11-0 were there"):
        count_up_to(scan(wait=True))
    assert count_up_to(scan(wait=True), most=10).entries == 10


def test_a_count_limited_at_the_last_entry_is_complete(
    client: redis.Redis, address: Server
) -> None:
    fill(client, 10)
    for upto, complete in ((10, True), (11, False)):
        counted = count_up_to(Scan(address, "s", FIRST, EntryId(upto, 0), 5), most=10)
        assert (counted.id, counted.all) == (EntryId(10, 0), complete)


def test_the_range_after_the_largest_id_is_empty(client: redis.Redis, address: Server) -> None:
    """Servers refuse to begin after it; a task that lacks entries counts what is around it."""
    client.xadd("s", {"a": 1}, id=str(LAST))
    assert count_entries(Scan(address, "s", LAST, LAST, 10, wait=True)) == 0
