"""Offsets: how far a query has read, as JSON in its checkpoint.

    {"source": {"subscribe": ["orders"]}, "query": "3f9a1c2b",
     "streams": {"orders": {"id": "1763000062499-3", "n": 250000,
                            "from": ["1763000000000-0", 1],
                            "cuts": [["1763000031000-0", 125000]]}}}

*id* is the last entry that belongs to the batch, *n* how many entries had ever been added when it
was: the difference of two *n* is an exact count, and ``entries-added`` minus *n* the exact lag.

*from* is where the batch began that ends here. Spark keeps the end of each batch only; when it
replays the first one it asks for the initial offset again, and by then ``latest`` is elsewhere.

*cuts* are where the batch is split into tasks, each with the *n* at it, or null where that is not
known. They stand here so that a replay plans the same tasks whatever options or machines it has.

*source* is what the query reads. A checkpoint of another source is refused. *query* tells it from
others of the same source; it is drawn when the query first starts, and stays.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pyspark_penstock.entry_id import FIRST, EntryId
from pyspark_penstock.errors import CheckpointError


class Cut(NamedTuple):
    """A place where a task begins, and how many entries had been added there, if known."""

    id: EntryId
    n: int | None

    def to_json(self) -> list[str | int | None]:
        """As it stands in the checkpoint."""
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
        """As it stands in the checkpoint."""
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
    """How far all streams of a query have been read; *source* is what it reads."""

    source: dict[str, Any]
    streams: dict[str, Position] = field(default_factory=dict)
    query: str = ""

    @property
    def is_start(self) -> bool:
        """Whether no batch ends here, so that it may not be in the checkpoint."""
        return all(position.begin is None for position in self.streams.values())

    def to_json(self) -> dict[str, Any]:
        """As it stands in the checkpoint."""
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
        """Raises CheckpointError if the checkpoint is of something else than *source*."""
        check_same_source(self.source, source)


def check_same_source(checkpoint: dict[str, Any], source: dict[str, Any]) -> None:
    """Raises CheckpointError if the source of the checkpoint is another than *source*."""
    if checkpoint != source:
        raise CheckpointError(
            f"the checkpoint is of a query that reads {checkpoint}, this one reads {source}; "
            "give this query a checkpoint of its own"
        )
