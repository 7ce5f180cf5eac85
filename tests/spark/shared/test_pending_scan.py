"""PendingScan: it reads exactly one consumer's pending entries that still exist."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import redis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pyspark_penstock.connect import connection
from pyspark_penstock.connect.address import Server
from pyspark_penstock.connect.connection import Connection
from pyspark_penstock.connect.dial import dial
from pyspark_penstock.entry_id import FIRST, LAST, EntryId
from pyspark_penstock.errors import CheckpointError, ServerError
from pyspark_penstock.read.page import MixedPage, mixed, parse
from pyspark_penstock.read.uniform_page import uniform
from pyspark_penstock.shared import pending_scan
from pyspark_penstock.shared.claims import acknowledge, claim_of, entries_in, pending
from pyspark_penstock.shared.group_offsets import ClaimedRange, Place
from pyspark_penstock.shared.pending_scan import PendingScan, one_by_one
from tests.spark.answers import Entry, answer, entries

MY_CONSUMER = Place("s", "g", "me")


@pytest.fixture
def address(at: dict[str, str]) -> Server:
    return Server(((at["host"], int(at["port"])),))


def scan(address: Server, page_size: int, after: EntryId = FIRST) -> PendingScan:
    return PendingScan(address, ClaimedRange(MY_CONSUMER, after, LAST, 0), page_size)


def values(pages: PendingScan) -> list[int]:
    """The numbers in the entries' only field."""
    found: list[int] = []
    for page in pages:
        column: Any = page.column(b"i")
        found += [int(value) for value in column.to_pylist()]
    return found


def fill(client: redis.Redis, mine: list[bool]) -> None:
    """Add entries 1-0, 2-0, ...; those in *mine* are pending for me, the others for another."""
    client.xgroup_create("s", "g", "0", mkstream=True)
    for i, is_mine in enumerate(mine, 1):
        client.xadd("s", {"i": i}, id=f"{i}-0")
        client.xreadgroup("g", "me" if is_mine else "other", {"s": ">"}, 1)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    mine=st.lists(st.booleans(), max_size=25),
    deleted=st.sets(st.integers(1, 25), max_size=8),
    page_size=st.integers(1, 6),
    sparse=st.sampled_from([1, 2, 100]),
)
def test_existing_pending_entries_are_read_and_deleted_ones_counted(
    client: redis.Redis,
    address: Server,
    mine: list[bool],
    deleted: set[int],
    page_size: int,
    sparse: int,
) -> None:
    client.flushall()
    fill(client, mine)
    for i in deleted:
        client.xdel("s", f"{i}-0")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pending_scan, "SPARSE", sparse)
        pages = scan(address, page_size)
        found = values(pages)
    expected = [i for i, is_mine in enumerate(mine, 1) if is_mine]
    assert found == [i for i in expected if i not in deleted]
    assert (pages.listed, pages.found) == (len(expected), len(found))


def test_a_scan_reads_only_its_task_s_range(client: redis.Redis, address: Server) -> None:
    fill(client, [True] * 9)
    task = ClaimedRange(MY_CONSUMER, EntryId(2, 0), EntryId(7, 0), 5)
    assert values(PendingScan(address, task, 2)) == [3, 4, 5, 6, 7]


def test_after_a_lost_connection_a_scan_continues_where_it_was(
    client: redis.Redis, address: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(client, [True] * 7)
    original, fail = Connection.answer, [False, True, False, False, True]

    def answer_or_not(self: Connection) -> bytes:
        found = original(self)
        if fail and fail.pop(0):
            raise ConnectionError("gone")
        return found

    monkeypatch.setattr(connection.Connection, "answer", answer_or_not)
    pages = scan(address, 2)
    assert values(pages) == list(range(1, 8))
    assert (pages.listed, pages.found, fail) == (7, 7, [])


def test_reading_one_by_one_reports_wrong_type(client: redis.Redis, address: Server) -> None:
    client.set("s", "text")
    with dial(address) as connected, pytest.raises(ServerError, match="WRONGTYPE"):
        list(one_by_one(connected, "s", [b"1-0", b"2-0"]))


@given(found=entries(), numbers=st.sets(st.integers(0, 11)))
def test_a_page_of_chosen_entries_equals_a_page_of_only_those(
    found: list[Entry], numbers: set[int]
) -> None:
    rows = sorted(number for number in numbers if number < len(found))
    whole = answer(found)
    entries = [[found[row][0], [s for f in found[row][1] for s in f]] for row in rows]
    expected = MixedPage(entries, 0)
    pages = (uniform(whole), mixed(whole), parse(whole))
    for page in (page for page in pages if page is not None):
        chosen = page.chosen(np.array(rows, np.int64))
        assert len(chosen) == len(rows)
        assert chosen.ids.to_pylist() == expected.ids.to_pylist()
        assert chosen.fields()[0].tolist() == expected.fields()[0].tolist()
        assert chosen.fields()[1].to_pylist() == expected.fields()[1].to_pylist()
        for name in {name for entry in found for name, _ in entry[1]}:
            column, other = chosen.column(name), expected.column(name)
            values = [None] * len(rows) if column is None else column.to_pylist()
            assert values == ([None] * len(rows) if other is None else other.to_pylist())


# ---------------------------------------------------------------------- claims


@pytest.mark.parametrize("stream", ["s", "*1\r\n", "ström"])
def test_claimed_entries_are_counted_without_parsing_them(
    client: redis.Redis, address: Server, stream: str
) -> None:
    client.xgroup_create(stream, "g", "0", mkstream=True)
    for i in range(12):
        client.xadd(stream, {"*5\r\n": "*7\r\n" * i})
    with dial(address) as connected:
        connected.ask("XREADGROUP", "GROUP", "g", "me", "COUNT", 11, "STREAMS", stream, ">")
        assert entries_in(connected.answer(), stream) == 11
        connected.ask("XREADGROUP", "GROUP", "g", "me", "COUNT", 11, "STREAMS", stream, ">")
        assert entries_in(connected.answer(), stream) == 1
        connected.ask("XREADGROUP", "GROUP", "g", "me", "COUNT", 11, "STREAMS", stream, ">")
        assert entries_in(connected.answer(), stream) == 0


def test_the_last_cut_of_a_claim_is_before_its_end(client: redis.Redis, address: Server) -> None:
    """A cut at the end would make a task without entries."""
    fill(client, [True] * 6)
    with dial(address) as connected:
        claim = claim_of(connected, MY_CONSUMER, 3)
        assert pending(connected, MY_CONSUMER) == claim.entries == 6
    assert [(cut.id.ms, cut.n) for cut in claim.cuts] == [(3, 3)]


def test_entries_claimed_later_are_not_acknowledged_with_a_batch(
    client: redis.Redis, address: Server
) -> None:
    """Two drivers can run from one checkpoint, and neither reads what the other has claimed."""
    fill(client, [False, True, True])
    with dial(address) as connected:
        claim = claim_of(connected, MY_CONSUMER, 10)
        client.xclaim("s", "g", "me", 0, ["1-0"])
        with pytest.raises(CheckpointError, match=r"3 entries are pending .* had claimed 2"):
            acknowledge(connected, MY_CONSUMER, claim)
        assert pending(connected, MY_CONSUMER) == 3
        client.xack("s", "g", "1-0")
        acknowledge(connected, MY_CONSUMER, claim)
    assert client.xpending("s", "g")["pending"] == 0
    assert [consumer["name"] for consumer in client.xinfo_consumers("s", "g")] == [b"other"]
