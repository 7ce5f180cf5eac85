"""In a cluster: states, views' rows, the group that shows a position, and a shared group."""

from __future__ import annotations

import pickle
from functools import partial

import pytest
from pyspark.sql.types import StructType

from pyspark_penstock.connect.address import Server
from pyspark_penstock.connect.client import Client
from pyspark_penstock.connect.dial import Preference
from pyspark_penstock.connect.links import Links
from pyspark_penstock.connect.slots import key_slot
from pyspark_penstock.connect.stream_info import group_states
from pyspark_penstock.entry_id import FIRST, LAST
from pyspark_penstock.read import views
from pyspark_penstock.read.source_options import stream_options
from pyspark_penstock.shared import claims, group_queue, pending_scan
from pyspark_penstock.shared.claims import Claimer
from pyspark_penstock.shared.group_offsets import ClaimedRange, Place
from pyspark_penstock.shared.group_reader import SharedStreamReader
from pyspark_penstock.shared.pending_scan import PendingScan
from tests.spark.clustered import Cluster
from tests.spark.shared.group import advance, first_batch

STREAMS = ["a", "b", "c"]
ROWS = {  # of each stream, after three of b's entries were delivered
    "streams": [1, 1, 1],
    "groups": [1, 1, 1],
    "consumers": [0, 1, 0],
    "pending": [0, 3, 0],
}


@pytest.fixture
def server(cluster: Cluster) -> Server:
    server = Server.from_environment(cluster.at)
    links = Links(server, Preference.PRIMARY, "filling")
    for stream in STREAMS:
        for n in range(1, 6):
            links.one(stream, "XADD", stream, f"{n}-1", "f", "v")
        links.one(stream, "XGROUP", "CREATE", stream, "g", "0")
    links.close()
    return server


def test_views_and_pending_entries(cluster: Cluster, server: Server) -> None:
    links = Links(server, Preference.PRIMARY, "a test")
    links.one("b", "XREADGROUP", "GROUP", "g", "me", "COUNT", "3", "STREAMS", "b", ">")
    with Client(server) as client:
        for view, rows in ROWS.items():
            assert [len(list(views.ROWS[view](client, s))) for s in STREAMS] == rows
            cluster.move(key_slot(b"b"))
        assert [g.pending for g in group_states(client, "b")] == [3]
    links.close()


def test_a_shared_query_reads_the_streams_of_all_nodes(cluster: Cluster, server: Server) -> None:
    """The tasks, too, ask who has the stream: they had gone to the address that was given."""
    given = cluster.at | {"subscribe": ",".join(STREAMS), "startingOffsets": "earliest"}
    options = stream_options(given | {"group": "g", "groupMode": "shared", "fetchSize": "2"})
    assert options.sharing
    reader = SharedStreamReader(options, options.sharing, StructType().add("_stream", "string"))
    start, end = first_batch(reader)
    cluster.move(key_slot(b"c"))
    rows = [
        row["_stream"]
        for partition in reader.partitions(start, end)
        for batch in pickle.loads(pickle.dumps(reader)).read(partition)
        for row in batch.to_pylist()
    ]
    assert sorted(rows) == sorted(STREAMS * 5)
    assert advance(reader, end) == end
    with Client(server) as client:
        assert [group_states(client, s)[0].pending for s in STREAMS] == [0, 0, 0]
    reader.stop()


@pytest.mark.parametrize("sparse", [0, 4])
def test_pending_entries_of_a_stream_on_its_way(
    cluster: Cluster, server: Server, monkeypatch: pytest.MonkeyPatch, sparse: int
) -> None:
    """As a range, and one by one."""
    monkeypatch.setattr(pending_scan, "SPARSE", sparse)
    links = Links(server, Preference.PRIMARY, "a test")
    for consumer in ("me", "other", "me", "other", "me"):
        links.one("c", "XREADGROUP", "GROUP", "g", consumer, "COUNT", "1", "STREAMS", "c", ">")
    links.close()
    slot, target = key_slot(b"c"), cluster.other(cluster.owner(key_slot(b"c")))
    cluster.open_slot(slot, target)
    cluster.move_keys(slot, target)
    scan = PendingScan(server, ClaimedRange(Place("c", "g", "me"), FIRST, LAST, 3), 10)
    assert sum(map(len, scan)) == scan.listed == scan.found == 3
    cluster.close_slot(slot, target)


def test_a_transaction_of_the_driver_follows_its_slot(cluster: Cluster, server: Server) -> None:
    with Client(server, Preference.PRIMARY) as client:
        words = [("XGROUP", "SETID", "a", "g", f"{n}-1") for n in (2, 3)]
        assert client.transact(*words) == [b"OK", b"OK"]
        cluster.move(key_slot(b"a"))
        assert client.transact(*words) == [b"OK", b"OK"]
        assert str(group_states(client, "a")[0].last_delivered) == "3-1"


def test_a_shared_group_is_claimed_at_primaries(cluster: Cluster, server: Server) -> None:
    links = Links(server, Preference.PRIMARY, "claiming")
    claimer = Claimer(links, 0, 2, lambda _: 100)
    places = {s: Place(s, "g", "me") for s in STREAMS}
    with Client(server, Preference.PRIMARY) as client:
        found = {s: group_queue.queue_of(client, s, "g", True, None) for s in STREAMS}
        queues = {s: queue for s, queue in found.items() if queue is not None}
    cluster.move(key_slot(b"c"))
    batch = claimer.claim(places, queues, 9)
    assert sum(claim.entries for claim in batch.values()) == 9
    cluster.fail_over(cluster.owner(key_slot(b"c")))
    for stream, claim in batch.items():
        pending = links.retry(stream, partial(claims.pending, place=places[stream]))
        assert pending == claim.entries
    links.close()
