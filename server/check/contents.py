"""What a snapshot holds, added up key by key: databases, types, sizes, and each stream."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from storage import values
from storage.lists.quicklist import QuickList
from storage.stream.stream import Stream

LARGEST = 10  # keys that are named


@dataclass
class TypeTotal:
    """All keys of one type: how many, their elements, and their bytes in the file."""

    keys: int = 0
    elements: int = 0
    size: int = 0


@dataclass(frozen=True, order=True)
class KeySize:
    """A key, and what it takes in the file."""

    size: int
    db: int
    key: bytes
    kind: str
    elements: int


@dataclass(frozen=True)
class StreamFacts:
    """What is worth knowing of a stream."""

    db: int
    key: bytes
    length: int
    first_id: str
    last_id: str
    groups: tuple[GroupFacts, ...]


@dataclass(frozen=True)
class GroupFacts:
    """A consumer group of a stream."""

    name: bytes
    last_delivered: str
    consumers: int
    pending: int


@dataclass
class Contents:
    """The sums so far; *streams* are those of the file, in its order."""

    keys: dict[int, int] = field(default_factory=dict)  # by database
    expiring: dict[int, int] = field(default_factory=dict)
    types: dict[str, TypeTotal] = field(default_factory=dict)
    streams: list[StreamFacts] = field(default_factory=list)
    _largest: list[KeySize] = field(default_factory=list)

    def add(self, db: int, key: bytes, value: Any, expires: bool, size: int) -> None:
        """Count a key that takes *size* bytes in the file."""
        kind = values.type_name(value).decode()
        elements = _elements(value)
        self.keys[db] = self.keys.get(db, 0) + 1
        self.expiring[db] = self.expiring.get(db, 0) + expires
        total = self.types.setdefault(kind, TypeTotal())
        total.keys += 1
        total.elements += elements
        total.size += size
        self._keep_if_large(KeySize(size, db, key, kind, elements))
        if isinstance(value, Stream):
            self.streams.append(_facts(db, key, value))

    def _keep_if_large(self, key: KeySize) -> None:
        if len(self._largest) < LARGEST:
            heapq.heappush(self._largest, key)
        else:
            heapq.heappushpop(self._largest, key)

    @property
    def largest(self) -> list[KeySize]:
        """The keys that take most of the file, the largest first."""
        return sorted(self._largest, reverse=True)


def _elements(value: Any) -> int:
    return len(value) if isinstance(value, Stream | QuickList) else 1


def _facts(db: int, key: bytes, stream: Stream) -> StreamFacts:
    first = stream.first_entry_id().encode().decode()
    last = stream.last_id.encode().decode()
    return StreamFacts(db, key, len(stream), first, last, tuple(_groups(stream)))


def _groups(stream: Stream) -> Iterator[GroupFacts]:
    for name, group in stream.sorted_groups():
        yield GroupFacts(
            name=name,
            last_delivered=group.last_id.encode().decode(),
            consumers=len(group.sorted_consumers()),
            pending=len(group.pel),
        )
