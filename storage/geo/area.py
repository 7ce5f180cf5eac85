"""The area of a search, and the ranges of scores in which its places are.

The area is a circle, or a box with sides to the north, south, east and west. It is searched in the
cell of its centre and the eight cells around it, in the order in which they are numbered here:

    6 | 1 | 5
    --+---+--      The step of the grid is so coarse that the nine cells cover the area. Those that
    4 | 0 | 3      the area does not reach are left out. After the last column comes the first one,
    --+---+--      and after the last row, too; so at step 1 some of the nine are the same.
    8 | 2 | 7

The choice of the step and the order are Redis's, since the order of an unsorted reply follows from
them. Near the poles it misses places that are in the area, as Redis does.
"""

from __future__ import annotations

import math
from typing import Final

from storage.geo import geohash, sphere

OUTSIDE: Final = -1.0  # as a distance
FINEST: Final = 26
COARSEST: Final = 1
HALF_EQUATOR: Final = 20037726.37  # m, in Mercator's projection
POLAR: Final = 66.0  # degrees; from here on a degree of longitude is less than half as wide
NEXT_TO_A_POLE: Final = 80.0
NEARLY: Final = 1.000001  # more than any rounding error

# How many rows to the north and columns to the east each of the nine cells is.
NINE: Final = ((0, 0), (1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1))


class Area:
    """All places whose distance from the centre is at most half of the width and of the height.

    For a circle these are the same: the radius. Angles are in degrees, *half_width* and
    *half_height* in units of so many m as *unit* says.
    """

    __slots__ = (
        "_east", "_half_height", "_half_width", "_height_m", "_is_box", "_north", "_south",
        "_west", "_width_m", "latitude", "longitude", "unit",
    )  # fmt: skip

    def __init__(
        self,
        longitude: float,
        latitude: float,
        half_width: float,
        half_height: float,
        unit: float,
        is_box: bool,
    ) -> None:
        self.longitude = longitude
        self.latitude = latitude
        self.unit = unit
        self._half_width = half_width
        self._half_height = half_height
        self._width_m = half_width * unit
        self._height_m = half_height * unit
        self._is_box = is_box
        self._south = self._north = self._west = self._east = 0.0

    def distance_of(self, score: float) -> float:
        """The distance in m of the place with that score from the centre, or OUTSIDE.

        The difference of latitudes alone tells of most places that are outside.
        """
        latitude = geohash.latitude_of(score)
        apart = sphere.latitude_distance(latitude, self.latitude)
        if apart > self._height_m and (self._is_box or apart > self._height_m * NEARLY):
            return OUTSIDE
        longitude = geohash.longitude_of(score)
        if self._is_box:
            wide = sphere.distance(longitude, latitude, self.longitude, latitude)
            if wide > self._width_m:
                return OUTSIDE
        distance = sphere.distance(self.longitude, self.latitude, longitude, latitude)
        if not self._is_box and distance > self._width_m:
            return OUTSIDE
        return distance

    # ------------------------------------------------------------------ ranges of scores

    def ranges(self) -> list[tuple[float, float]]:
        """The ranges of scores in which to search, in turn; each ends before its second score."""
        step = self._first_step()
        if step > COARSEST:
            self._find_edges()
            if not self._is_covered(step):
                step -= 1
        return self._nine_ranges(step)

    def _first_step(self) -> int:
        """The step whose cells are, at the equator, at least as wide as the area reaches."""
        reach = self._width_m
        if self._is_box:
            wide, high = self._half_width, self._half_height
            reach = math.sqrt(wide * wide + high * high) * self.unit
        if reach == 0:
            return FINEST
        step = -1
        while reach < HALF_EQUATOR:
            reach *= 2
            step += 1
        if abs(self.latitude) > POLAR:
            step -= 1
        if abs(self.latitude) > NEXT_TO_A_POLE:
            step -= 1
        return max(COARSEST, min(FINEST, step))

    def _find_edges(self) -> None:
        """Find how far the area reaches, in degrees. It is widest at its edge next to a pole."""
        high = sphere.degrees_north(self._height_m)
        widest = self.latitude - high if self.latitude < 0 else self.latitude + high
        wide = sphere.degrees_east(self._width_m, widest)
        self._south = self.latitude - high
        self._north = self.latitude + high
        self._west = self.longitude - wide
        self._east = self.longitude + wide

    def _is_covered(self, step: int) -> bool:
        """Whether the nine cells of that step reach as far as the area."""
        last = (1 << step) - 1
        row = geohash.row_of(self.latitude, step)
        column = geohash.column_of(self.longitude, step)
        return not (
            geohash.south_of((row + 1 & last) + 1, step) < self._north
            or geohash.south_of(row - 1 & last, step) > self._south
            or geohash.west_of((column + 1 & last) + 1, step) < self._east
            or geohash.west_of(column - 1 & last, step) > self._west
        )

    def _nine_ranges(self, step: int) -> list[tuple[float, float]]:
        """The ranges of the nine cells, without those that the area does not reach."""
        last = (1 << step) - 1
        row = geohash.row_of(self.latitude, step)
        column = geohash.column_of(self.longitude, step)
        shift = 2 * (FINEST - step)
        ranges: list[tuple[float, float]] = []
        for north, east in NINE:
            if step > COARSEST and not self._reaches(row, column, step, north, east):
                continue
            bits = geohash.cell(
                column + east & last if east else column, row + north & last if north else row
            )
            found = (float(bits << shift), float(bits + 1 << shift))
            if not ranges or found != ranges[-1]:  # equal ranges are neighbours
                ranges.append(found)
        return ranges

    def _reaches(self, row: int, column: int, step: int, north: int, east: int) -> bool:
        """Whether the area leaves its centre's cell, at *row* and *column*, in that direction."""
        if north > 0 and geohash.south_of(row + 1, step) > self._north:
            return False
        if north < 0 and geohash.south_of(row, step) < self._south:
            return False
        if east > 0 and geohash.west_of(column + 1, step) > self._east:
            return False
        return not (east < 0 and geohash.west_of(column, step) < self._west)
