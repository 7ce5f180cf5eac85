"""Geo commands: protocols, what is stored, what must not change.

The replies are in tests/compat.
"""

from __future__ import annotations

import gc

import pytest

from storage import allocation
from tests.server.given_back import is_given_back
from tests.used_memory import used_at_start

SICILY = "GEOADD Sicily 13.361389 38.115556 Palermo 15.087269 37.502669 Catania"
EDGES = "GEOADD Sicily 12.758489 38.788135 edge1 17.241510 38.788135 edge2"
PALERMO, CATANIA = 3479099956230698, 3479447370796909


def test_coordinates_are_bulk_strings_in_resp2_and_doubles_in_resp3(server):
    server.send_line(SICILY)
    line = "GEOSEARCH Sicily FROMMEMBER Palermo BYRADIUS 1 km WITHCOORD WITHDIST WITHHASH"
    texts = [b"13.36138933897018433", b"38.11555639549629859"]
    assert server.send_line("GEOPOS Sicily Palermo nope") == [texts, None]
    assert server.send_line(line) == [[b"Palermo", b"0.0000", PALERMO, texts]]
    server.send_line("HELLO 3")
    doubles = [13.36138933897018433, 38.11555639549629859]
    assert server.send_line("GEOPOS Sicily Palermo nope") == [doubles, None]
    assert server.send_line(line) == [[b"Palermo", b"0.0000", PALERMO, doubles]]
    assert server.send_line("GEODIST Sicily Palermo Catania") == b"166274.1516"


def test_a_box_reaches_half_of_its_sides_in_each_direction(server):
    server.send_line(SICILY)
    server.send_line(EDGES)
    line = "GEOSEARCH Sicily FROMLONLAT 15 37 BYBOX 400 400 km ASC WITHDIST"
    assert server.send_line(line) == [
        [b"Catania", b"56.4413"], [b"Palermo", b"190.4424"],
        [b"edge2", b"279.7403"], [b"edge1", b"279.7405"],
    ]  # fmt: skip
    line = "GEOSEARCH Sicily FROMLONLAT 15 37 BYRADIUS 200 km ASC"
    assert server.send_line(line) == [b"Catania", b"Palermo"]


@pytest.mark.parametrize(
    "line",
    [
        "GEOADD g 1 1", "GEOADD g 1 1 b x 1 c", "GEOADD g 1 1 b 181 1 c", "GEOADD g 1 1 b 1 86 c",
        "GEOADD new 1 1 a 1 1", "GEOADD g NX XX 1 1 b", "GEOADD s 1 1 a", "GEOADD g GT 1 1 b",
        "GEORADIUS g 1 1 x km STORE g", "GEORADIUS g 1 1 1 km STORE g WITHDIST",
        "GEORADIUS g 1 1 1 km STORE g ANY", "GEORADIUS g 1 1 1 km COUNT 0 STORE g",
        "GEORADIUS_RO g 1 1 1 km STORE g", "GEORADIUSBYMEMBER g nope 1 km STORE g",
        "GEOSEARCHSTORE g g BYRADIUS 1 km ASC ASC ASC",
        "GEOSEARCHSTORE s s FROMMEMBER a BYRADIUS 1 m",
        "GEOSEARCHSTORE g g FROMMEMBER a BYBOX 1 -1 km",
        "GEOSEARCHSTORE g g FROMMEMBER a ASC DESC ASC",
    ],
)  # fmt: skip
def test_a_refused_command_changes_nothing(server, line):
    server.send_line("GEOADD g 1 1 a")
    server.send_line("SET s v")
    server.logged()
    assert server.send_line(line).startswith("-")
    assert server.send_line("ZRANGE g 0 -1") == [b"a"]
    assert server.send_line("GET s") == b"v"
    assert server.send_line("EXISTS new") == 0
    assert server.logged() == []


def test_each_stored_place_counts_as_a_change(server):
    server.send_line(SICILY)
    before = server.state.events.changes
    server.send_line("GEOSEARCHSTORE d Sicily FROMLONLAT 15 37 BYRADIUS 300 km")
    assert server.state.events.changes == before + 2
    server.send_line("GEOSEARCHSTORE d Sicily FROMLONLAT 0 0 BYRADIUS 1 km")
    assert server.state.events.changes == before + 3


def test_the_scores_that_are_stored_are_places_or_distances_in_the_unit(server):
    server.send_line(SICILY)
    server.send_line("GEOSEARCHSTORE d Sicily FROMMEMBER Palermo BYRADIUS 200 km")
    assert server.send_line("ZSCORE d Catania") == b"%d" % CATANIA
    server.send_line("GEOSEARCHSTORE d Sicily FROMMEMBER Palermo BYRADIUS 200 km STOREDIST")
    assert server.send_line("ZSCORE d Palermo") == b"0"
    assert float(server.send_line("ZSCORE d Catania")) == pytest.approx(166.2741516)


def test_a_client_that_waits_for_a_sorted_set_gets_a_place(server):
    waiter = server.client()
    waiter.send_line("BZPOPMIN d 0")
    server.send_line(SICILY)
    assert waiter.waits
    server.send_line("GEOSEARCHSTORE d Sicily FROMMEMBER Palermo BYRADIUS 200 km COUNT 1")
    assert waiter.reply() == [b"d", b"Palermo", b"%d" % PALERMO]


def test_a_reply_ends_at_the_limit_of_a_clients_replies(server):
    # So long a reply fits into no buffer that other tests have left.
    words = [word for n in range(40_000) for word in (n / 2000, 0, f"m{n}")]
    server.send("GEOADD", "g", *words)
    client = server.client()
    client.client.out.limit = 10_000
    client.send_line("GEOSEARCH g FROMLONLAT 0 0 BYRADIUS 5000 km WITHCOORD")
    assert client.client.out.overflown


def test_memory_comes_back_when_places_are_deleted(server):
    before = used_at_start()
    for n in range(400):
        server.send("GEOADD", "g", n / 10, n / 10, f"m{n}")
    server.send_line("GEOSEARCHSTORE d g FROMLONLAT 1 1 BYRADIUS 900 km")
    assert server.send_line("ZCARD d") > 50
    assert allocation.used_bytes() > before
    server.send_line("DEL g d")
    gc.collect()
    assert is_given_back(before)
