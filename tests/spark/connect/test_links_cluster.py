"""Links to a cluster: each request goes to the node that has its key, whatever moves meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from pyspark_penstock.connect.address import Server
from pyspark_penstock.connect.client import Client
from pyspark_penstock.connect.connection import Connection
from pyspark_penstock.connect.dial import Preference
from pyspark_penstock.connect.links import Links
from pyspark_penstock.connect.slots import key_slot
from pyspark_penstock.connect.stream_info import matching_streams, stream_state
from pyspark_penstock.errors import ServerError
from tests.spark.clustered import PATIENT, Cluster

NAMES = [f"s{n}" for n in range(300)]


@pytest.fixture
def server(cluster: Cluster) -> Server:
    return Server.from_environment(cluster.at)


@pytest.fixture
def links(server: Server) -> Iterator[Links]:
    links = Links(server, Preference.PRIMARY, "a test")
    yield links
    links.close()


def fill(links: Links) -> None:
    assert links.ask([(n, ("SET", n, n)) for n in NAMES]) == [b"OK"] * len(NAMES)


def check(links: Links) -> None:
    assert links.ask([(n, ("GET", n)) for n in NAMES]) == [n.encode() for n in NAMES]


def test_slots_are_those_of_the_cluster(cluster: Cluster) -> None:
    for name in (b"", b"a", b"{a}b", b"b{a}", b"{}a", b"{a", b"a}{b}", b"{{a}}", b"caf\xe9"):
        assert key_slot(name) == int(cluster.nodes[0].ask("CLUSTER", "KEYSLOT", name))


def test_each_node_is_asked_once(links: Links, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(links)
    asked: list[tuple[str, int]] = []
    send_all = Connection.send_all

    def counted(connection: Connection, requests: list[tuple[str, ...]]) -> None:
        asked.append(connection.address)
        send_all(connection, requests)

    monkeypatch.setattr(Connection, "send_all", counted)
    check(links)
    assert len(asked) == len(set(asked)) == 3


def test_a_slot_that_has_moved_is_followed(cluster: Cluster, links: Links) -> None:
    fill(links)
    for name in NAMES[:5]:
        cluster.move(key_slot(name.encode()))
        check(links)
        assert links.one(name, "GET", name) == name.encode()


@pytest.mark.parametrize("ask", ["ask", "retry", "client"])
def test_keys_on_their_way_are_found_at_the_other_node(
    cluster: Cluster, links: Links, server: Server, ask: str
) -> None:
    here, gone = "{x}here", "{x}gone"
    slot, target = key_slot(b"x"), cluster.other(cluster.owner(key_slot(b"x")))
    for name in (here, gone):
        links.one(name, "SET", name, name)
    cluster.open_slot(slot, target)
    cluster.owner(slot).ask("MIGRATE", "127.0.0.1", target.port, gone, 0, 10_000)
    with Client(server) as client:
        get: Callable[[str], bytes] = {
            "ask": lambda name: links.one(name, "GET", name),
            "retry": lambda name: links.retry(name, lambda link: link.call("GET", name)),
            "client": lambda name: client.execute_command("GET", name),
        }[ask]
        assert [get(name) for name in (here, gone, here, gone)] == [
            here.encode(), gone.encode(), here.encode(), gone.encode(),
        ]  # fmt: skip
        cluster.move_keys(slot, target)
        assert get(here) == here.encode()
        cluster.close_slot(slot, target)
        assert [get(name) for name in (here, gone)] == [here.encode(), gone.encode()]


def test_pages_of_a_stream_on_its_way(cluster: Cluster, links: Links) -> None:
    slot, target = key_slot(b"s"), cluster.other(cluster.owner(key_slot(b"s")))
    links.one("s", "XADD", "s", "1-1", "f", "v")
    cluster.open_slot(slot, target)
    cluster.move_keys(slot, target)

    def page(link: Connection) -> bytes:
        link.ask("XRANGE", "s", "-", "+")
        return link.answer()

    assert links.retry("s", page) == b"*1\r\n*2\r\n$3\r\n1-1\r\n*2\r\n$1\r\nf\r\n$1\r\nv\r\n"
    cluster.close_slot(slot, target)


def test_a_primary_that_dies_is_replaced(cluster: Cluster, links: Links) -> None:
    fill(links)
    cluster.fail_over(cluster.primaries[0])
    check(links)
    assert links.scan("*", "string") == sorted(NAMES)


def test_the_only_address_that_was_given_may_be_gone(cluster: Cluster) -> None:
    """The others were learnt from it."""
    first = cluster.primaries[0]
    at = {"host": "127.0.0.1", "port": str(first.port)} | PATIENT
    links = Links(Server.from_environment(at), Preference.PRIMARY, "a test")
    fill(links)
    cluster.fail_over(first)
    check(links)
    links.close()


def test_all_nodes_are_scanned(cluster: Cluster, links: Links, server: Server) -> None:
    links.ask([(n, ("XADD", n, "*", "f", "v")) for n in NAMES])
    links.one("text", "SET", "text", "x")
    assert links.scan("s*") == sorted(NAMES)
    assert len(links.each_node("DBSIZE")) == 3
    with Client(server) as client:
        assert matching_streams(client, "s?") == sorted(NAMES[:10])
        assert stream_state(client, "s299").added == 1


def test_a_stream_that_moves_during_the_scan_is_found(
    cluster: Cluster, links: Links, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It moves from a node that is not scanned yet to one that was."""
    links.ask([(n, ("XADD", n, "*", "f", "v")) for n in NAMES])
    slot = key_slot(b"s7")
    target = cluster.other(cluster.owner(slot))
    moved: list[int] = []
    scanned = Links._pass

    def late(self: Links, words: tuple[str, ...]) -> set[str]:
        names = scanned(self, words)
        if not moved:
            moved.append(slot)
            cluster.move(slot, target)
            names.discard("s7")
        return names

    monkeypatch.setattr(Links, "_pass", late)
    assert links.scan("s*") == sorted(NAMES)
    assert moved


def test_replicas_are_read_on_wish(cluster: Cluster, server: Server) -> None:
    wishing = replace(server, read_from="replica")
    links = Links(wishing, Preference.ANY, "a test")
    writing = Links(wishing, Preference.PRIMARY, "a test")
    fill(writing)
    primaries = cluster.primaries
    cluster.replicate()
    check(links)
    replicas = {cluster.replica_of(node).port for node in primaries}
    assert {links.connection_of(name).address[1] for name in NAMES} == replicas
    assert {writing.connection_of(name).address[1] for name in NAMES} == {
        node.port for node in primaries
    }
    cluster.move(key_slot(b"s1"))
    cluster.replicate()
    check(links)
    links.close()
    writing.close()


def test_a_replica_that_is_away_is_left_for_its_primary(cluster: Cluster, server: Server) -> None:
    links = Links(replace(server, read_from="replica"), Preference.ANY, "a test")
    writing = Links(server, Preference.PRIMARY, "a test")
    fill(writing)
    cluster.replicate()
    cluster.replica_of(cluster.primaries[0]).kill()
    check(links)
    links.close()
    writing.close()


def test_a_cluster_has_no_other_database(server: Server) -> None:
    with pytest.raises(ServerError, match="SELECT"):
        Links(replace(server, db=1), Preference.PRIMARY, "a test").one("s", "GET", "s")
