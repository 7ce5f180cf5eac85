"""Ids of entries: what they say of time, and which one people mean by a time."""

from __future__ import annotations

import re
from datetime import datetime

_ID = re.compile(r"\d{1,20}(-\d{1,20})?")
_CLOCK = re.compile(r"\d{1,2}:\d{2}(:\d{2})?")
_AGO = re.compile(r"(\d+) ?(s|m|min|h|d)")
_MS = {"s": 1000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}
MOST = (1 << 64) - 1


def parts(entry_id: str) -> tuple[int, int]:
    """Of an id: its milliseconds and its number."""
    ms, _, rest = entry_id.partition("-")
    return int(ms), int(rest or 0)


def entry_time_ms(entry_id: str) -> int:
    """The unix time in an id, in ms."""
    return parts(entry_id)[0]


def before(entry_id: str) -> str:
    """The largest id below *entry_id*: a group that stands there is given that entry next."""
    ms, rest = parts(entry_id)
    if rest:
        return f"{ms}-{rest - 1}"
    return f"{ms - 1}-{MOST}" if ms else "0-0"


def following(entry_id: str) -> str:
    """The smallest id above *entry_id*: exclusive ranges, ``(id``, came with Redis 6.2."""
    ms, rest = parts(entry_id)
    return f"{ms}-{rest + 1}" if rest < MOST else f"{min(ms + 1, MOST)}-0"


def meant_by(words: str, now: datetime) -> str:
    """The id that *words* name: an id, ``0``, ``$``, a time of day, a date and time, or ``2h`` ago.

    A time means: the first entry of that time is given next. Raises ValueError.
    """
    said = words.strip()
    if said == "$" or _ID.fullmatch(said):
        if said == "$":
            return said
        ms, rest = parts(said)
        if max(ms, rest) > MOST:
            raise ValueError(f"{said} is too large for an id")
        return f"{ms}-{rest}"
    if found := _AGO.fullmatch(said):
        when_ms = int(now.timestamp() * 1000) - int(found[1]) * _MS[found[2]]
        return before(f"{max(0, when_ms)}-0")
    if _CLOCK.fullmatch(said):
        said = f"{now.date().isoformat()}T{said.zfill(5 if said.count(':') == 1 else 8)}"
    try:
        when = datetime.fromisoformat(said)
    except ValueError:
        raise ValueError(f"{words!r} is no id and no time: 1795-0, 0, $, 14:30, 2h") from None
    if when.tzinfo is None:
        when = when.replace(tzinfo=now.tzinfo)
    return before(f"{max(0, int(when.timestamp() * 1000))}-0")
