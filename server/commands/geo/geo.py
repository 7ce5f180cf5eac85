"""The geo commands on members by name: adding places, and asking where they are."""

from __future__ import annotations

from protocol.encoder import Encoder
from protocol.replies import Reply
from server.commands.geo import geo_args, geo_reply
from server.commands.sorted_sets import addition
from server.dispatch.call import Call
from server.table import errors
from server.table.command import Flags, command
from server.table.keys import ACCESS, RO, RW, UPDATE, KeyRange
from storage.geo import geohash, place_marks, sphere
from storage.sorted_sets.sorted_set import SortedSet

READ = Flags.READONLY
OF_MEMBERS = "O(N) where N is the number of members asked for."


@command(
    "GEOADD",
    arity=-5,
    flags=Flags.WRITE | Flags.DENYOOM,
    group="geo",
    since="3.2.0",
    complexity="O(log(N)) for each place added, where N is the number of members.",
    keys=KeyRange(RW | UPDATE),
    history=[("6.2.0", "The CH, NX and XX options.")],
)
def geoadd(call: Call) -> Reply:
    """Adds places to a sorted set, each as a member whose score says where it is.

    GEOADD key [NX | XX] [CH] longitude latitude member [longitude latitude member ...]
    """
    call.argv = geo_args.as_zadd(call.argv)  # this is what is logged, too
    return addition.with_options(call)


@command(
    "GEODIST",
    arity=-4,
    flags=READ,
    group="geo",
    since="3.2.0",
    keys=KeyRange(RO | ACCESS),
)
def geodist(call: Call) -> Reply:
    """Returns the distance between two members of a sorted set of places; null if one is missing.

    GEODIST key member1 member2 [M | KM | FT | MI]
    """
    argv: list[bytes] = call.argv
    if len(argv) > 5:
        raise errors.SYNTAX
    unit = geo_args.unit_of(argv[4]) if len(argv) == 5 else 1.0
    values: SortedSet | None = call.db.read(argv[1], SortedSet)
    if values is None:
        return None
    one, other = values.score_of(argv[2]), values.score_of(argv[3])
    if one is None or other is None:
        return None
    distance = sphere.distance(
        geohash.longitude_of(one),
        geohash.latitude_of(one),
        geohash.longitude_of(other),
        geohash.latitude_of(other),
    )
    return place_marks.distance_text(distance / unit)


@command(
    "GEOHASH",
    arity=-2,
    flags=READ,
    group="geo",
    since="3.2.0",
    complexity=OF_MEMBERS,
    keys=KeyRange(RO | ACCESS),
)
def geohash_(call: Call) -> Reply:
    """Returns where members of a sorted set of places are, as geohashes of 11 letters.

    GEOHASH key [member [member ...]]
    """
    values: SortedSet | None = call.db.read(call.argv[1], SortedSet)
    out: Encoder = call.client.out.another()
    out.array(len(call.argv) - 2)
    for member in call.argv[2:]:
        score = None if values is None else values.score_of(member)
        out.write(None if score is None else geohash.text_of(score))
    return out


@command(
    "GEOPOS",
    arity=-2,
    flags=READ,
    group="geo",
    since="3.2.0",
    complexity=OF_MEMBERS,
    keys=KeyRange(RO | ACCESS),
)
def geopos(call: Call) -> Reply:
    """Returns where members of a sorted set of places are, as pairs of longitude and latitude.

    GEOPOS key [member [member ...]]
    """
    values: SortedSet | None = call.db.read(call.argv[1], SortedSet)
    out: Encoder = call.client.out.another()
    out.array(len(call.argv) - 2)
    for member in call.argv[2:]:
        score = None if values is None else values.score_of(member)
        if score is None:
            out.null_array()
        else:
            geo_reply.write_position(out, score)
    return out
