"""What a snapshot holds: keys by database and by type, sizes, the largest keys, and streams."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import Any

from storage import types

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

    def add(self, db: int, key: bytes, value: Any, expires: bool, size: int) -> None:
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
        self._keep_if_large(KeySize(size, db, key, kind, elements))
        lines = tuple(row.check_lines(value, shown))
        if lines:
            self.described.append(Description(db, key, kind, lines))

    def _keep_if_large(self, key: KeySize) -> None:
        if len(self._largest) < LARGEST:
            heapq.heappush(self._largest, key)
        else:
            heapq.heappushpop(self._largest, key)

    @property
    def largest(self) -> list[KeySize]:
        """The keys that take most of the file, the largest first."""
        return sorted(self._largest, reverse=True)


def shown(name: bytes) -> str:
    """A name in printable characters, cut if it is long."""
    text = name.decode("utf-8", "backslashreplace")
    text = text if text.isprintable() else ascii(text)[1:-1]
    return text if len(text) <= MAX_NAME else text[:MAX_NAME] + "..."
