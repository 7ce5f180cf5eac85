"""Positions: how far one stream has been read, and how its part of a batch is cut into tasks."""

from __future__ import annotations

from dataclasses import dataclass
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
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as problem:
            raise CheckpointError(f"not an offset of this source: {value!r}") from problem
