"""How tools show what a server answers: texts that do nothing to a terminal, durations, pairs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

UNITS = ((86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1000, "s"), (1, "ms"))


def span(ms: int) -> str:
    """A duration in the largest unit of which there are at least two."""
    size, unit = next((each for each in UNITS if ms >= 2 * each[0]), UNITS[-1])
    return f"{ms // size} {unit}"


def text(octets: bytes | str) -> str:
    """For people and for JSON: what does not print is escaped, so that it does nothing."""
    shown = octets.decode(errors="backslashreplace") if isinstance(octets, bytes) else octets
    if shown.isprintable():
        return shown
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in shown)


def pairs(answer: Any) -> Iterable[tuple[Any, Any]]:
    """Of a map, which RESP2 has as a list of names and values."""
    if isinstance(answer, dict):
        return answer.items()
    words = iter(answer)
    return zip(words, words, strict=True)
