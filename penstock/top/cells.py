"""How figures are shown in a cell. What is not known is a dash; what there cannot be is blank."""

from __future__ import annotations

from collections.abc import Sequence

from penstock import shown
from penstock.top.figures import Number

UNKNOWN = "-"
BARS = "▁▂▃▄▅▆▇█"
SPARK = 12  # columns
_SIZES = ((1 << 40, "T"), (1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K"))


def count(number: Number) -> str:
    return UNKNOWN if number is None else f"{number:,}"


def octets(number: Number) -> str:
    """A size in the largest unit of which there is at least one, with three digits or so."""
    if number is None:
        return UNKNOWN
    for size, unit in _SIZES:
        if number >= size:
            share = number / size
            return f"{share:.1f}{unit}" if share < 100 else f"{share:.0f}{unit}"
    return f"{number}B"


def age(ms: Number, pending: Number) -> str:
    """Of the oldest of so many pending entries."""
    if ms is None:
        return "" if pending == 0 else UNKNOWN
    return shown.span(ms)


def rate(per_s: float | None) -> str:
    if per_s is None:
        return UNKNOWN
    return f"{per_s:.1f}" if 0 < per_s < 10 else f"{per_s:,.0f}"


def spark(rates: Sequence[float | None], width: int = SPARK) -> str:
    """The last *width* rates as bars; the highest one is full, and an unknown one is blank."""
    last = list(rates)[-width:]
    top = max((each for each in last if each is not None), default=0.0)
    bars = "".join(_bar(each, top) for each in last)
    return bars.rjust(width)


def _bar(per_s: float | None, top: float) -> str:
    if per_s is None:
        return " "
    if top <= 0:
        return BARS[0]
    return BARS[min(len(BARS) - 1, int(per_s / top * (len(BARS) - 1) + 0.999))]
