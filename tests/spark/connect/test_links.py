"""Links to one server: many requests in one round trip, again when the connection is lost."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

import pytest
import redis

from pyspark_penstock.connect.address import Server
from pyspark_penstock.connect.connection import Connection
from pyspark_penstock.connect.dial import Preference
from pyspark_penstock.connect.links import Links
from pyspark_penstock.errors import ServerError
from tests.compat.processes import ServerProcess
from tests.spark.clock import Clock
from tests.spark.troubled import Troubled


@pytest.fixture
def links(at: dict[str, str]) -> Iterator[Links]:
    links = Links(Server.from_environment(at), Preference.PRIMARY, "a test")
    yield links
    links.close()


def test_many_requests_are_one_round_trip(
    client: redis.Redis, links: Links, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"s{n}" for n in range(1_000)]
    trips: list[int] = []
    send_all = Connection.send_all

    def counted(connection: Connection, requests: list[tuple[str, ...]]) -> None:
        trips.append(len(requests))
        send_all(connection, requests)

    monkeypatch.setattr(Connection, "send_all", counted)
    assert links.ask([(name, ("SET", name, name)) for name in names]) == [b"OK"] * 1_000
    assert links.ask([(name, ("GET", name)) for name in names]) == [n.encode() for n in names]
    assert trips == [1_000, 1_000]
    assert links.ask([]) == []


def test_an_error_of_the_server_is_the_reply_to_its_request(
    client: redis.Redis, links: Links
) -> None:
    client.set("text", "x")
    first, error, last = links.ask(
        [("text", ("GET", "text")), ("text", ("XLEN", "text")), ("no", ("EXISTS", "no"))]
    )
    assert (first, last) == (b"x", 0)
    assert isinstance(error, ServerError)
    assert str(error).startswith("WRONGTYPE")
    with pytest.raises(ServerError, match="WRONGTYPE"):
        links.one("text", "XLEN", "text")


def test_a_lost_connection_is_made_again(client: redis.Redis, links: Links) -> None:
    links.one("s", "PING")
    lost = links.connection_of("s")
    client.client_kill_filter(_type="normal", skipme=True)
    assert links.ask([("s", ("ECHO", "here"))]) == [b"here"]
    assert links.connection_of("s") is not lost
    assert links.retry("s", lambda connection: connection.call("ECHO", "x")) == b"x"


def test_a_server_that_is_loading_is_asked_again(
    client: redis.Redis, server: ServerProcess, clock: Clock
) -> None:
    errors = iter([b"LOADING it loads"])
    way = Troubled(server.port, lambda _, name: next(errors, None) if name == b"GET" else None)
    client.set("s", "x")
    links = Links(Server.from_environment(way.at), Preference.ANY, "a test")
    assert links.ask([("s", ("GET", "s"))]) == [b"x"]
    links.close()
    way.close()
    assert clock.pauses == [0.05]


def test_after_the_time_is_over_it_is_an_error(clock: Clock) -> None:
    away = Server.from_environment({"host": "127.0.0.1", "port": "1", "retryTimeout": "1s"})
    with pytest.raises(ServerError, match=r"^a test at 127.0.0.1:1 failed \d+ times in 1 s"):
        Links(away, Preference.ANY, "a test").ask([("s", ("GET", "s"))])


def test_scan_and_each_node(client: redis.Redis, links: Links) -> None:
    for n in range(2_500):
        client.xadd(f"s:{n}", {"n": n})
    client.set("s:text", "x")
    client.xadd("other", {"n": 1})
    assert links.scan("s:*") == sorted(f"s:{n}" for n in range(2_500))
    assert links.each_node("DBSIZE") == [2_502]


def test_an_interrupted_answer_is_not_taken_for_the_next(client: redis.Redis, links: Links) -> None:
    def leave(connection: Connection) -> None:
        connection.ask("ECHO", "this reply is not read")
        raise ServerError("refused")

    with pytest.raises(ServerError, match="refused"):
        links.retry("s", leave)
    assert links.one("s", "ECHO", "here") == b"here"


def test_links_travel_without_their_connections(client: redis.Redis, links: Links) -> None:
    links.one("s", "PING")
    copy = pickle.loads(pickle.dumps(links))
    assert copy.one("s", "ECHO", "here") == b"here"
    copy.close()
