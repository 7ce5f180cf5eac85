"""Places as RESP."""

from __future__ import annotations

from protocol.encoder import Encoder
from server.commands.geo.search_args import SearchArgs
from storage.geo import geohash, place_marks
from storage.geo.places import Places


def write_places(out: Encoder, found: Places, count: int, unit: float, wanted: SearchArgs) -> None:
    """Write the first *count* places; distances in units of so many m. Raises nothing."""
    details = wanted.with_distance + wanted.with_hash + wanted.with_coordinates
    out.array(count)
    for at in range(count):
        found.go(at)
        if details:
            out.array(1 + details)
        _write_member(out, found)
        if wanted.with_distance:
            out.bulk(place_marks.distance_text(found.distance / unit))
        if wanted.with_hash:
            out.integer(int(found.score))
        if wanted.with_coordinates:
            write_position(out, found.score)
        if out.overflown:  # no more of it will be sent
            break


def _write_member(out: Encoder, found: Places) -> None:
    if found.is_int:
        out.bulk_int(found.number)
    elif found.data is not None:
        out.bulk_slice(found.data, found.start, found.size)


def write_position(out: Encoder, score: float) -> None:
    """Write the longitude and latitude that *score* says."""
    out.array(2)
    _write_degrees(out, geohash.longitude_of(score))
    _write_degrees(out, geohash.latitude_of(score))


def _write_degrees(out: Encoder, degrees: float) -> None:
    """Write an angle with up to 17 digits after the point; in RESP2 as a bulk string."""
    text = geohash.degrees_text(degrees)
    if out.resp == 3:
        out.raw(b",%b\r\n" % text)
    else:
        out.bulk(text)
