"""Distances on the earth, taken for a sphere: the plain versions of the C functions.

Angles are in degrees, distances in m. All are computed in the order in which Redis computes them,
so that they are the same to the last bit.
"""

from __future__ import annotations

from math import asin, cos, pi, sin, sqrt

EARTH_RADIUS = 6372797.560856  # m
RADIAN = pi / 180.0


def latitude_distance(one: float, other: float) -> float:
    """The distance between two latitudes."""
    return EARTH_RADIUS * abs(other * RADIAN - one * RADIAN)


def distance(
    one_longitude: float, one_latitude: float, other_longitude: float, other_latitude: float
) -> float:
    """The great-circle distance between two places, by the haversine formula."""
    wide = sin((other_longitude * RADIAN - one_longitude * RADIAN) / 2)
    if wide == 0:
        return latitude_distance(one_latitude, other_latitude)
    one, other = one_latitude * RADIAN, other_latitude * RADIAN
    high = sin((other - one) / 2)
    share = sqrt(high * high + cos(one) * cos(other) * wide * wide)
    return 2.0 * EARTH_RADIUS * asin(min(share, 1.0))


def degrees_north(height: float) -> float:
    """How many degrees of latitude are *height* m."""
    return height / EARTH_RADIUS / RADIAN


def degrees_east(width: float, latitude: float) -> float:
    """How many degrees of longitude are *width* m at that latitude; below 0 beyond a pole."""
    return width / EARTH_RADIUS / cos(latitude * RADIAN) / RADIAN
