"""The result of checking one file, and what it holds: its keys, by database, type and size."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from storage import types

UNKNOWN = -1
LARGEST = 10  # keys that are named
MAX_NAME = 60  # characters of a name that are shown


@dataclass
class TypeTotal:
    """The keys of one type: how many, their elements, and their bytes in the file."""

    keys: int = 0
    elements: int = 0
    size: int = 0


@dataclass(frozen=True, order=True)
class KeySize:
    """A key and its bytes in the file."""

    size: int
    db: int
    key: bytes
    kind: str
    elements: int


@dataclass(frozen=True)
class Description:
    """What is told about one value, beyond its size: a line, and details of it."""

    db: int
    key: bytes
    kind: str
    lines: tuple[str, ...]


@dataclass
class Contents:
    """The sums so far; *described* are in the order of the file."""

    keys: dict[int, int] = field(default_factory=dict)  # by database
    expiring: dict[int, int] = field(default_factory=dict)
    types: dict[str, TypeTotal] = field(default_factory=dict)
    described: list[Description] = field(default_factory=list)
    with_side_data: int = 0  # keys
    _largest: list[KeySize] = field(default_factory=list)

    def count_key(self, db: int, key: bytes, value: Any, expires: bool, size: int) -> None:
        """Count a key that takes *size* bytes in the file."""
        row = types.of(value)
        kind = row.name.decode()
        elements = row.length(value)
        self.keys[db] = self.keys.get(db, 0) + 1
        self.expiring[db] = self.expiring.get(db, 0) + expires
        total = self.types.setdefault(kind, TypeTotal())
        total.keys += 1
        total.elements += elements
        total.size += size
        heapq.heappush(self._largest, KeySize(size, db, key, kind, elements))
        if len(self._largest) > LARGEST:
            heapq.heappop(self._largest)
        lines = tuple(row.check_lines(value, shown))
        if lines:
            self.described.append(Description(db, key, kind, lines))

    @property
    def largest(self) -> list[KeySize]:
        """The keys that take most of the file, the largest first."""
        return sorted(self._largest, reverse=True)


def shown(name: bytes) -> str:
    """A name in printable characters, cut if it is long."""
    text = name.decode("utf-8", "backslashreplace")
    text = text if text.isprintable() else ascii(text)[1:-1]
    return text if len(text) <= MAX_NAME else text[:MAX_NAME] + "..."


@dataclass
class Finding:
    """One file, or what a start makes of it.

    *problem* is "" if it is valid; otherwise *verdict* is the kind of problem in a word, and
    *offset* is where it stops being valid. *torn* says that only the last write was cut short:
    everything before *offset* may stay.
    """

    path: Path
    kind: str  # snapshot, log, manifest, folder or start
    size: int
    problem: str = ""
    verdict: str = "BROKEN"
    offset: int = UNKNOWN
    torn: bool = False
    facts: list[str] = field(default_factory=list)  # lines for people
    contents: Contents | None = None

    @property
    def is_whole(self) -> bool:
        return not self.problem
