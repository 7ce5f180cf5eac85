"""The geo commands that search an area, and answer or store the places in it."""

from __future__ import annotations

from protocol.encoder import Encoder
from protocol.replies import Reply
from server.commands.geo import geo_reply, search_args
from server.commands.geo.search_args import SearchArgs
from server.commands.sorted_sets import zset_steps
from server.dispatch.call import Call
from server.table.command import Flags, command
from server.table.documentation import Deprecated
from server.table.keys import ACCESS, OW, RO, UPDATE, KeyAfter, KeyRange
from storage.geo import search
from storage.geo.area import Area
from storage.geo.place_order import UNSORTED
from storage.geo.places import Places
from storage.sorted_sets.sorted_set import SortedSet

WRITE = Flags.WRITE | Flags.DENYOOM
OF_SEARCHES = (
    "O(N+log(M)) where N is the number of members in the cells around the area, and M of all"
    " members."
)
SOURCE = KeyRange(RO | ACCESS)
ANY_ADDED = ("6.2.0", "The ANY option of COUNT.")
UPPER_CASE = ("7.0.0", "Units may be in capitals.")


@command(
    "GEORADIUS",
    arity=-6,
    flags=WRITE | Flags.MOVABLEKEYS,
    group="geo",
    since="3.2.0",
    complexity=OF_SEARCHES,
    keys=(SOURCE, KeyAfter(OW | UPDATE, b"STORE", 6), KeyAfter(OW | UPDATE, b"STOREDIST", 6)),
    deprecated=Deprecated("6.2.0", "`GEOSEARCH` and `GEOSEARCHSTORE` with the `BYRADIUS` argument"),
    history=[ANY_ADDED, UPPER_CASE],
)
def georadius(call: Call) -> Reply:
    """Returns the places of a sorted set around a place, or stores them as another sorted set.

    GEORADIUS key longitude latitude radius <M | KM | FT | MI> [WITHCOORD] [WITHDIST] [WITHHASH]
    [COUNT count [ANY]] [ASC | DESC] [STORE key | STOREDIST key]
    """
    return _search(call, search_args.of_radius(call, True), b"georadiusstore")


@command(
    "GEORADIUS_RO",
    arity=-6,
    flags=Flags.READONLY,
    group="geo",
    since="3.2.10",
    complexity=OF_SEARCHES,
    keys=SOURCE,
    deprecated=Deprecated("6.2.0", "`GEOSEARCH` with the `BYRADIUS` argument"),
    history=[ANY_ADDED, UPPER_CASE],
)
def georadius_ro(call: Call) -> Reply:
    """Returns the places of a sorted set around a place.

    GEORADIUS_RO key longitude latitude radius <M | KM | FT | MI> [WITHCOORD] [WITHDIST] [WITHHASH]
    [COUNT count [ANY]] [ASC | DESC]
    """
    return _search(call, search_args.of_radius(call, False), b"")


@command(
    "GEORADIUSBYMEMBER",
    arity=-5,
    flags=WRITE | Flags.MOVABLEKEYS,
    group="geo",
    since="3.2.0",
    complexity=OF_SEARCHES,
    keys=(SOURCE, KeyAfter(OW | UPDATE, b"STORE", 5), KeyAfter(OW | UPDATE, b"STOREDIST", 5)),
    deprecated=Deprecated(
        "6.2.0", "`GEOSEARCH` and `GEOSEARCHSTORE` with the `BYRADIUS` and `FROMMEMBER` arguments"
    ),
    history=[ANY_ADDED, UPPER_CASE],
)
def georadiusbymember(call: Call) -> Reply:
    """Returns the places of a sorted set around one of them, or stores them as another sorted set.

    GEORADIUSBYMEMBER key member radius <M | KM | FT | MI> [WITHCOORD] [WITHDIST] [WITHHASH]
    [COUNT count [ANY]] [ASC | DESC] [STORE key | STOREDIST key]
    """
    return _search(call, search_args.of_radius_by_member(call, True), b"georadiusstore")


@command(
    "GEORADIUSBYMEMBER_RO",
    arity=-5,
    flags=Flags.READONLY,
    group="geo",
    since="3.2.10",
    complexity=OF_SEARCHES,
    keys=SOURCE,
    deprecated=Deprecated("6.2.0", "`GEOSEARCH` with the `BYRADIUS` and `FROMMEMBER` arguments"),
    history=[ANY_ADDED, UPPER_CASE],
)
def georadiusbymember_ro(call: Call) -> Reply:
    """Returns the places of a sorted set around one of them.

    GEORADIUSBYMEMBER_RO key member radius <M | KM | FT | MI> [WITHCOORD] [WITHDIST] [WITHHASH]
    [COUNT count [ANY]] [ASC | DESC]
    """
    return _search(call, search_args.of_radius_by_member(call, False), b"")


@command(
    "GEOSEARCH",
    arity=-7,
    flags=Flags.READONLY,
    group="geo",
    since="6.2.0",
    complexity=OF_SEARCHES,
    keys=SOURCE,
    history=[UPPER_CASE],
)
def geosearch(call: Call) -> Reply:
    """Returns the places of a sorted set that are in a circle or a box.

    GEOSEARCH key <FROMMEMBER member | FROMLONLAT longitude latitude>
    <BYRADIUS radius <M | KM | FT | MI> | BYBOX width height <M | KM | FT | MI>>
    [ASC | DESC] [COUNT count [ANY]] [WITHCOORD] [WITHDIST] [WITHHASH]
    """
    return _search(call, search_args.of_search(call), b"")


@command(
    "GEOSEARCHSTORE",
    arity=-8,
    flags=WRITE,
    group="geo",
    since="6.2.0",
    complexity=OF_SEARCHES,
    keys=(KeyRange(OW | UPDATE), KeyRange(RO | ACCESS, first=2)),
    history=[UPPER_CASE],
)
def geosearchstore(call: Call) -> Reply:
    """Stores the places of a sorted set that are in a circle or a box; returns how many they are.

    GEOSEARCHSTORE destination source <FROMMEMBER member | FROMLONLAT longitude latitude>
    <BYRADIUS radius <M | KM | FT | MI> | BYBOX width height <M | KM | FT | MI>>
    [ASC | DESC] [COUNT count [ANY]] [STOREDIST]
    """
    return _search(call, search_args.of_search_store(call), b"geosearchstore")


# ---------------------------------------------------------------------- results


def _search(call: Call, wanted: SearchArgs, event: bytes) -> Reply:
    """Search, and answer or store what is found; *event* says that it is stored."""
    if wanted.values is None:
        if wanted.target is None:
            return []
        zset_steps.delete(call, wanted.target)
        return 0
    area: Area = wanted.area()
    found: Places = search.find(wanted.values, area, wanted.most())
    order: int = wanted.order()
    if order != UNSORTED:
        found.sort(order, wanted.chosen(found.count))
    if wanted.target is not None:
        return _store(call, wanted, found, area.unit, event)
    out: Encoder = call.client.out.another()
    geo_reply.write_places(out, found, wanted.chosen(found.count), area.unit, wanted)
    return out


def _store(call: Call, wanted: SearchArgs, found: Places, unit: float, event: bytes) -> Reply:
    limits = call.server.node_limits.sorted_set
    made: SortedSet = SortedSet()
    count: int = wanted.chosen(found.count)
    if count > limits.entries:
        made.as_tree()
    for at in range(count):
        found.go(at)
        score = found.distance / unit if wanted.stores_distances else found.score
        made.put(found.member(), score, limits)
    made.shrink()
    assert wanted.target is not None
    return zset_steps.store(call, wanted.target, made, event, count)
