"""Offsets: how far a query has read, as JSON in its checkpoint.

    {"source": {"subscribe": ["orders"]}, "query": "3f9a1c2b",
     "streams": {"orders": {"id": "1763000062499-3", "n": 250000,
                            "from": ["1763000000000-0", 1],
                            "cuts": [["1763000031000-0", 125000]]}}}

*id* is the last entry of the batch. *n* is how many entries had ever been added up to it: two *n*
differ by an exact count, and ``entries-added`` minus *n* is the exact lag.

*from* is where the batch begins. Spark keeps only the end of each batch. To replay the first batch
it asks for the initial offset again, and ``latest`` is elsewhere by then.

*cuts* split the batch into tasks. Each has the *n* at that id, or null if it is not known. They are
kept so that a replay has the same tasks, whatever the options or machines are by then.

*source* is what the query reads; a checkpoint of another source is refused. *query* is a random id
that distinguishes the query from others of the same source. It never changes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pyspark_penstock.entry_id import FIRST, EntryId
from pyspark_penstock.errors import CheckpointError


class Cut(NamedTuple):
    """The id after which a task begins, and how many entries had been added up to it, if known."""

    id: EntryId
    n: int | None

    def to_json(self) -> list[str | int | None]:
        """The form in the checkpoint."""
        return [str(self.id), self.n]

    @classmethod
    def from_json(cls, value: list[Any]) -> Cut:
        """What ``to_json`` wrote. Raises ValueError, TypeError."""
        text, n = value
        return cls(EntryId.parse(text), None if n is None else int(n))


@dataclass(frozen=True)
class Position:
    """How far one stream has been read."""

    id: EntryId = FIRST
    n: int = 0
    begin: Cut | None = None
    cuts: tuple[Cut, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The form in the checkpoint."""
        value: dict[str, Any] = {"id": str(self.id), "n": self.n}
        if self.begin is not None:
            value["from"] = self.begin.to_json()
        if self.cuts:
            value["cuts"] = [cut.to_json() for cut in self.cuts]
        return value

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Position:
        """The position that ``to_json`` wrote. Raises CheckpointError."""
        try:
            begin = Cut.from_json(value["from"]) if "from" in value else None
            cuts = tuple(Cut.from_json(cut) for cut in value.get("cuts", ()))
            return cls(EntryId.parse(value["id"]), int(value["n"]), begin, cuts)
        except (KeyError, TypeError, ValueError) as problem:
            raise CheckpointError(f"not an offset of this source: {value!r}") from problem


@dataclass(frozen=True)
class Offset:
    """How far all streams of a query have been read. *source* is what it reads."""

    source: dict[str, Any]
    streams: dict[str, Position] = field(default_factory=dict)
    query: str = ""

    @property
    def is_start(self) -> bool:
        """Whether this is an initial offset, at which no batch ends.

        It may not be in the checkpoint yet.
        """
        return all(position.begin is None for position in self.streams.values())

    def to_json(self) -> dict[str, Any]:
        """The form in the checkpoint."""
        streams = {name: position.to_json() for name, position in sorted(self.streams.items())}
        return {"source": self.source, "query": self.query, "streams": streams}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Offset:
        """The offset that ``to_json`` wrote. Raises CheckpointError."""
        if not isinstance(value.get("streams"), dict) or "source" not in value:
            raise CheckpointError(f"not an offset of this source: {value!r}")
        streams = {name: Position.from_json(p) for name, p in value["streams"].items()}
        return cls(value["source"], streams, str(value.get("query", "")))

    def check_source(self, source: dict[str, Any]) -> None:
        """Raises CheckpointError if the offset is of another source."""
        check_same_source(self.source, source)


def check_same_source(checkpoint: dict[str, Any], source: dict[str, Any]) -> None:
    """Raises CheckpointError if the checkpoint is of another source."""
    if checkpoint != source:
        raise CheckpointError(
            f"the checkpoint is of a query that reads {checkpoint}, this one reads {source}; "
            "give this query a checkpoint of its own"
        )
