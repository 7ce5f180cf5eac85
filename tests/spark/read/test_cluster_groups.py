"""In a cluster: states, views' rows, the group that shows a position, and a shared group."""

from __future__ import annotations

from functools import partial

import pytest

from pyspark_penstock.connect.address import Server
from pyspark_penstock.connect.client import Client
from pyspark_penstock.connect.dial import Preference
from pyspark_penstock.connect.links import Links
from pyspark_penstock.connect.slots import key_slot
from pyspark_penstock.connect.stream_info import group_states
from pyspark_penstock.read import views
from pyspark_penstock.shared import claims, group_queue
from pyspark_penstock.shared.claims import Claimer
from pyspark_penstock.shared.group_offsets import Place
from tests.spark.clustered import Cluster

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
