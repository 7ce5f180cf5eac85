"""Figures: what planning, reading and writing count, by server and stream.

the planner            --reportLatestOffset-->     Spark's progress JSON
tasks of a batch       --accumulator-->            the driver's program
the sink's messages    --commit, accumulator-->    the driver's program
                       --commit, a file beside the checkpoint--> ``status``
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

# What the planner counts, since it began.
ENTRIES_LOST, ENTRIES_REDELIVERED, PLAN_MS = "entries_lost", "entries_redelivered", "plan_ms"
# What reading tasks count; they find lost entries, too.
BYTES_READ, BAD_VALUES, ROWS_DROPPED, READ_MS = (
    "bytes_read", "bad_values", "rows_dropped", "read_ms",
)  # fmt: skip
# What writing tasks count, and tell in their commit messages. Repeated rows were there already.
ROWS_WRITTEN, BYTES_WRITTEN, ROWS_REPEATED, WRITE_RETRIES, WRITE_MS = (
    "rows_written", "bytes_written", "rows_repeated", "write_retries", "write_ms",
)  # fmt: skip
ENTRIES_READ = "entries_read"  # by the offsets

MOST_STREAMS = 200
OTHERS = ""  # the name of all streams of a server that are not known by name

Place = tuple[str, str]  # a server's name, and a stream; or no stream, for the server as a whole
Json = dict[str, dict[str, dict[str, float]]]


class Sums:
    """Sums by server and stream, each with its name.

    MOST_STREAMS streams are known by name, those that come first. Those after them are counted
    together, as OTHERS: this spares a driver, and who collects its metrics, the ten thousand
    streams of one query. All sums are right, with any number of streams.
    """

    def __init__(self) -> None:
        self._sums: dict[Place, dict[str, float]] = {}

    def __bool__(self) -> bool:
        return bool(self._sums)

    def add(self, place: Place, name: str, value: float = 1) -> None:
        """Add *value* to a sum."""
        if not value:
            return
        if place not in self._sums and len(self._sums) >= MOST_STREAMS:
            place = place[0], OTHERS
        sums = self._sums.setdefault(place, {})
        sums[name] = sums.get(name, 0) + value

    def merge(self, other: Sums) -> None:
        """Add all sums of another."""
        for place, name, value in other:
            self.add(place, name, value)

    def copy(self) -> Sums:
        """A copy that does not change."""
        made = Sums()
        made.merge(self)
        return made

    def since(self, before: Sums) -> Sums:
        """What has come since these were *before*; all, if they have begun anew."""
        begun_anew = any(value > self.of(place, name) for place, name, value in before)
        made = Sums()
        for place, name, value in self:
            made.add(place, name, value if begun_anew else value - before.of(place, name))
        return made

    def __iter__(self) -> Iterator[tuple[Place, str, float]]:
        for place, sums in self._sums.items():
            for name, value in sums.items():
                yield place, name, value

    def of(self, place: Place, name: str) -> float:
        """One sum."""
        return self._sums.get(place, {}).get(name, 0)

    def total(self, name: str) -> float:
        """The sum of all servers and streams."""
        return sum(sums.get(name, 0) for sums in self._sums.values())

    def totals(self) -> dict[str, float]:
        """The sums of all servers and streams, by name."""
        found: dict[str, float] = {}
        for _, name, value in self:
            found[name] = found.get(name, 0) + value
        return found

    def to_json(self) -> Json:
        """The form in Spark's progress JSON: by server, stream and name."""
        found: Json = {}
        for (server, stream), name, value in self:
            found.setdefault(server, {}).setdefault(stream, {})[name] = round(value, 1)
        return found

    @classmethod
    def from_json(cls, value: Any) -> Sums:
        """What ``to_json`` wrote; nothing of what is something else."""
        made = cls()
        for server, streams in items(value):
            for stream, sums in items(streams):
                for name, number in items(sums):
                    if isinstance(number, int | float):
                        made.add((server, stream), name, number)
        return made


def items(value: Any) -> Iterator[tuple[str, Any]]:
    """The items of a mapping; none of something else."""
    if isinstance(value, Mapping):
        yield from value.items()
