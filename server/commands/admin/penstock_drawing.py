r"""LOLWUT's drawing: a penstock, the pipe that leads water from behind a dam to a wheel.

~~~~~~~~~~~~~~||
~~~~~~~~~~~~~~||        the dam; the water stands *head* rows high
~~~~~~~~~~~~~~[]\       the gate: [] open, ## shut
==============  \~~\   the pipe: as much ~ in it as the gate lets through
                  \~~\ ooo
                     o   .o
                    o .+.  o    the wheel
                     o.   o
                       ooo ~~~~~~~~~~
"""

from __future__ import annotations

import math

LEAST_HEAD, MOST_HEAD = 2, 20  # rows
WIDEST_GATE = 10  # how far the gate can be open; at 0 it is shut
RESERVOIR = 14  # columns
RADIUS = 4  # of the wheel, in rows; a row is as high as two columns are wide
SPOKES = 6
DROP = 6  # rows from the gate to the wheel's axis
TAIL = 10  # columns of water after the wheel
RIM, SPOKE, AXIS = "o", ".", "+"


class Canvas:
    """Rows of characters. What lies outside is not drawn."""

    def __init__(self, rows: int, columns: int) -> None:
        self._rows = [[" "] * columns for _ in range(rows)]

    def put(self, row: int, column: int, text: str) -> None:
        """Write *text* from that place to the right."""
        for at, letter in enumerate(text, column):
            if 0 <= row < len(self._rows) and 0 <= at < len(self._rows[row]):
                self._rows[row][at] = letter

    def text(self) -> str:
        """All rows, each with its line end."""
        return "".join("".join(row).rstrip() + "\n" for row in self._rows)


def draw(head: int, gate: int, turn: float) -> str:
    """The drawing. *turn*: how far the wheel has turned, from 0 to 1.

    A *head* or a *gate* beyond its range is the nearest one in it.
    """
    head = min(max(head, LEAST_HEAD), MOST_HEAD)
    gate = min(max(gate, 0), WIDEST_GATE)
    axis_row = head + DROP
    axis_column = RESERVOIR + 2 + 2 * DROP + 2 * RADIUS
    canvas = Canvas(axis_row + RADIUS + 1, axis_column + 2 * RADIUS + TAIL)
    for row in range(head):
        canvas.put(row, 0, "~" * RESERVOIR + "||")
    canvas.put(head - 1, RESERVOIR, "[]" if gate else "##")
    canvas.put(head, 0, "=" * RESERVOIR)
    _pipe(canvas, head, gate)
    _wheel(canvas, axis_row, axis_column, turn)
    tail = "".join(_water(place, gate) for place in range(TAIL))
    canvas.put(axis_row + RADIUS, axis_column + 2 * RADIUS + 1, tail)
    return canvas.text()


def _pipe(canvas: Canvas, head: int, gate: int) -> None:
    """Two walls that go down two columns a row, and the water between them."""
    for step in range(DROP):
        row, column = head - 1 + step, RESERVOIR + 2 + 2 * step
        inside = "".join(_water(step + at, gate) for at in range(2))
        canvas.put(row, column, f"\\{inside}\\" if step else "\\")


def _water(place: int, gate: int) -> str:
    """A drop or a gap: *gate* of ten places have a drop, spread evenly."""
    full = (place + 1) * gate // WIDEST_GATE > place * gate // WIDEST_GATE
    return "~" if full else " "


def _wheel(canvas: Canvas, row: int, column: int, turn: float) -> None:
    """The spokes, the rim above them, and the axis."""
    for spoke in range(SPOKES):
        for distance in range(1, RADIUS):
            _dot(canvas, row, column, spoke / SPOKES + turn, distance, SPOKE)
    for part in range(8 * RADIUS):
        _dot(canvas, row, column, part / (8 * RADIUS), RADIUS, RIM)
    canvas.put(row, column, AXIS)


def _dot(canvas: Canvas, row: int, column: int, turn: float, distance: float, letter: str) -> None:
    angle = math.tau * turn
    up, right = math.sin(angle) * distance, math.cos(angle) * distance
    canvas.put(row - round(up), column + round(2 * right), letter)
