"""Places, distances and units, as clients write them."""

from __future__ import annotations

from math import inf

from protocol.replies import ErrorReply
from server.commands.sorted_sets import score_args
from server.table import errors
from server.table.args import Args
from storage import octets
from storage.geo import geohash

BAD_UNIT = ErrorReply("ERR", "unsupported unit provided. please use M, KM, FT, MI")
BAD_RADIUS = ErrorReply("ERR", "need numeric radius")
BAD_WIDTH = ErrorReply("ERR", "need numeric width")
BAD_HEIGHT = ErrorReply("ERR", "need numeric height")
NEGATIVE_RADIUS = ErrorReply("ERR", "radius cannot be negative")
NEGATIVE_SIDE = ErrorReply("ERR", "height or width cannot be negative")

UNITS = {b"M": 1.0, b"KM": 1000.0, b"FT": 0.3048, b"MI": 1609.34}  # m


def unit_of(word: bytes) -> float:
    """How many m the unit is. Raises BAD_UNIT."""
    unit = UNITS.get(word.upper())
    if unit is None:
        raise BAD_UNIT
    return unit


def take_place(args: Args) -> tuple[float, float]:
    """The next two arguments, a longitude and a latitude. Raises NOT_A_FLOAT, or a range error."""
    longitude = _degrees(args.take())
    latitude = _degrees(args.take())
    if not geohash.is_on_map(longitude, latitude):
        raise ErrorReply("ERR", f"invalid longitude,latitude pair {longitude:f},{latitude:f}")
    return longitude, latitude


def _degrees(text: bytes) -> float:
    """Read an angle: most are short decimals. Raises NOT_A_FLOAT."""
    degrees = geohash.read_degrees(text)
    return degrees if degrees < inf else score_args.to_score(text)


def take_radius(args: Args) -> tuple[float, float]:
    """The next two arguments, a radius and its unit. Raises BAD_RADIUS and others."""
    radius = score_args.to_score(args.take(), BAD_RADIUS)
    if radius < 0:
        raise NEGATIVE_RADIUS
    return radius, unit_of(args.take())


def take_box(args: Args) -> tuple[float, float, float]:
    """The next three arguments, a width, a height and their unit. Raises BAD_WIDTH and others."""
    width = score_args.to_score(args.take(), BAD_WIDTH)
    height = score_args.to_score(args.take(), BAD_HEIGHT)
    if width < 0 or height < 0:
        raise NEGATIVE_SIDE
    return width, height, unit_of(args.take())


def as_zadd(argv: list[bytes]) -> list[bytes]:
    """The ZADD that does what GEOADD asks for. Raises SYNTAX, and what is wrong with a place."""
    args = Args(argv, 2)
    only_new = only_old = False
    while True:
        if args.skip(b"NX"):
            only_new = True
        elif args.skip(b"XX"):
            only_old = True
        elif not args.skip(b"CH"):
            break
    if args.left() % 3 or (only_new and only_old):
        raise errors.SYNTAX
    words = [b"ZADD", *argv[1 : args.at]]
    while args.left():
        longitude, latitude = take_place(args)
        words.append(octets.decimal(int(geohash.score_of(longitude, latitude))))
        words.append(args.take())
    return words
