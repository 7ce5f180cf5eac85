"""How much trouble a group is in: the order of "sorted by trouble" (docs/monitoring.md).

The points of all that is true are added up. What is unknown gives neither points nor a word.

    1000  dead letters grow    more were given up than at the beginning of the window
     500  stuck                the oldest pending entry is older than the group's patience
     300  nobody reads         there is something to do, and no consumer
     200  lag grows            and was not below its beginning in the whole window
     100  paused
      50  dead letters         there are some, and they do not grow
    0-40                       2 for each digit of lag and pending: the bigger of two equals first

The window is the last minute, as far as it has been watched (history.py). The patience is the
group's VISIBILITY (a minute, if it has none), and the longest of its BACKOFF.
The console's page computes the same; tests/package/top/trouble.json has cases for both.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from penstock.top.figures import Group, Number

PATIENCE_MS = 60_000  # of a group without VISIBILITY
MOST_FOR_SIZE = 40
BAD, WARN = 500, 100


class Level(Enum):
    """How a row is coloured; its words say the same."""

    CALM = "calm"
    WARN = "warn"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Trouble:
    """Points, and the words for what they were given for."""

    points: int = 0
    words: tuple[str, ...] = ()

    @property
    def level(self) -> Level:
        if self.points >= BAD:
            return Level.BAD
        return Level.WARN if self.points >= WARN else Level.CALM


@dataclass(frozen=True, slots=True)
class Trend:
    """What has become of a group within the window."""

    dead_letters_grow: bool = False
    lag_grows: bool = False


NONE = Trouble()
STEADY = Trend()


def of_group(group: Group, trend: Trend = STEADY, dead: Number = None) -> Trouble:
    """The trouble of a group whose dead letters' stream has *dead* entries now."""
    signs = (
        (1000, "dead letters grow", trend.dead_letters_grow),
        (500, "stuck", (group.oldest_ms or 0) > patience_ms(group.policy)),
        (300, "nobody reads", group.consumers == 0 and bool(group.lag or group.pending)),
        (200, "lag grows", trend.lag_grows),
        (100, "paused", bool(group.paused)),
        (50, "dead letters", bool(dead) and not trend.dead_letters_grow),
    )
    points = sum(worth for worth, _, is_so in signs if is_so)
    size = min(MOST_FOR_SIZE, 2 * (_digits(group.lag) + _digits(group.pending)))
    return Trouble(points + size, tuple(word for _, word, is_so in signs if is_so))


def of_stream(groups: Iterable[Trouble]) -> Trouble:
    """That of its worst group."""
    return max(groups, key=lambda trouble: trouble.points, default=NONE)


def patience_ms(policy: tuple[str, ...]) -> int:
    """How long something may be pending without being late."""
    visibility, backoff, word = 0, 0, ""
    for each in policy:
        if not each.isdecimal():
            word = each.upper()
        elif word == "VISIBILITY":
            visibility = int(each)
        elif word == "BACKOFF":
            backoff = max(backoff, int(each))
    return (visibility or PATIENCE_MS) + backoff


def _digits(number: Number) -> int:
    return len(str(number)) if number else 0
