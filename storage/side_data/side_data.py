"""The side data of one key, and their record in an RDB or a payload of DUMP.

    version, a byte     FORM
    count               how many follow
    for each of them    name of the kind, whether it is of a group (a byte), [the group], its bytes

Texts and numbers are RDB strings and lengths. They stand in the order of (kind, group), so equal
side data have equal records.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from storage import allocation
from storage.errors import Corrupt
from storage.rdb.reader import RdbReader
from storage.rdb.writer import RdbWriter
from storage.side_data import kinds
from storage.side_data.side_kind import SideKind
from storage.value_type import Words

FORM = 1
AUX = b"penstock-side-data"  # the name of the field that has a record
LEAST_BYTES = 3  # of one of them in a record


class SideData:
    """Values by the name of their kind, and by the group that each belongs to.

    Where *group* is None, the value belongs to the key itself. Most are asked for the same one
    again and again, by each XADD or XREADGROUP say: what was asked for last is remembered, of the
    key and of its groups.
    """

    __slots__ = (
        "_asked", "_asked_of_group", "_found", "_found_of_group", "_group", "_values", "_weight",
    )  # fmt: skip

    def __init__(self) -> None:
        self._values: dict[tuple[bytes, bytes | None], Any] = {}
        self._asked: SideKind | None = None
        self._found: Any = None
        self._group: bytes | None = None
        self._asked_of_group: SideKind | None = None
        self._found_of_group: Any = None
        self._weight = 0  # bytes of kinds that nobody knows here; the others count themselves

    def __del__(self) -> None:
        allocation.used -= self._weight

    def _weigh(self, value: Any, sign: int) -> None:
        """*value* comes (1) or goes (-1)."""
        if type(value) is bytes:
            change = sign * allocation.of_bytes(value)
            self._weight += change
            allocation.used += change

    def _forget_asked(self) -> None:
        """What was asked for last may have another value now."""
        self._asked = self._found = None
        self._group = self._asked_of_group = self._found_of_group = None

    def __len__(self) -> int:
        return len(self._values)

    def get(self, kind: SideKind, group: bytes | None = None) -> Any:
        """The value of that *kind*; None if there is none."""
        if group is not None:
            if kind is not self._asked_of_group or group != self._group:
                self._found_of_group = self._values.get((kind.name, group))
                self._asked_of_group, self._group = kind, group
            return self._found_of_group
        if kind is not self._asked:
            self._found = self._values.get((kind.name, None))
            self._asked = kind
        return self._found

    def set(self, kind: SideKind, value: Any, group: bytes | None = None) -> None:
        place = (kind.name, group)
        self._weigh(self._values.get(place), -1)
        self._weigh(value, 1)
        self._values[place] = value
        self._forget_asked()

    def discard(self, kind: SideKind, group: bytes | None = None) -> bool:
        """Forget the value. False if there was none."""
        self._forget_asked()
        value = self._values.pop((kind.name, group), None)
        self._weigh(value, -1)
        return value is not None

    def of_kind(self, kind: SideKind) -> list[tuple[bytes | None, Any]]:
        """The groups (None: the key itself) that have a value of that *kind*, and the values."""
        return [(at[1], value) for at, value in self._values.items() if at[0] == kind.name]

    def group_gone(self, group: bytes) -> None:
        """Forget all that belongs to *group*."""
        self._forget_asked()
        for place in [place for place in self._values if place[1] == group]:
            self._weigh(self._values.pop(place), -1)

    def copy(self) -> SideData:
        copy = SideData()
        for kind, group, value in self._sorted():
            copy.set(kind, kind.copy(value), group)
        return copy

    def written_keys(self) -> list[bytes]:
        """Keys that the server may write because of them: who sets them needs the right to."""
        return [key for kind, _, value in self._sorted() for key in kind.written_keys(value)]

    def large(self) -> list[Any]:
        """The values that take long to be freed: each has a method shed()."""
        found = self._values.items()
        return [value for place, value in found if kinds.named(place[0]).is_large(value)]

    def memory(self) -> int:
        """About how many bytes they take."""
        return sum(kind.memory(value) for kind, _, value in self._sorted())

    def commands(self, key: bytes) -> Iterator[Words]:
        """The commands that set all of it again, beside *key*."""
        for kind, group, value in self._sorted():
            yield from kind.commands(key, group, value)

    def _sorted(self) -> list[tuple[SideKind, bytes | None, Any]]:
        places = sorted(self._values, key=lambda place: (place[0], place[1] or b""))
        return [(kinds.named(place[0]), place[1], self._values[place]) for place in places]

    # ------------------------------------------------------------------ the record

    def digest(self) -> bytes:
        """What two servers that hold the same data have alike. O(size)."""
        return self._written(True)

    def record(self) -> bytes:
        """All of it as bytes. O(size)."""
        return self._written(False)

    def _written(self, as_digest: bool) -> bytes:
        writer = RdbWriter(compress=False)
        writer.byte(FORM)
        writer.length(len(self._values))
        for kind, group, value in self._sorted():
            writer.string(kind.name)
            writer.byte(group is not None)
            if group is not None:
                writer.string(group)
            writer.string(kind.digest(value) if as_digest else kind.dump(value))
        return writer.take()


def side_data_in(record: bytes) -> SideData:
    """The side data whose record this is. Raises Corrupt. O(size)."""
    reader = RdbReader(record)
    if reader.byte() != FORM:
        raise Corrupt("side data in a form of a later version")
    data = SideData()
    for _ in range(reader.count(LEAST_BYTES)):
        kind = kinds.named(reader.string())
        group = reader.string() if reader.byte() else None
        if data.get(kind, group) is not None:
            raise Corrupt("the same side data twice")
        data.set(kind, kind.load(reader.string()), group)
    if reader.left():
        raise Corrupt("bytes after the side data")
    return data
