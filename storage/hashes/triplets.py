"""A small hash of which some fields expire: one listpack of triplets.

    field, value, time, field, value, time, ...

*time* is an integer, in unix ms; 0 for a field that never expires. The triplets are in the order of
their times, and those that never expire come last. So are the bytes of Redis's "listpackex", which
an RDB has.
"""

from __future__ import annotations

from collections.abc import Iterator

from storage import allocation
from storage.errors import Corrupt
from storage.hashes.timed_fields import NO_EXPIRY, TimedFields
from storage.listpack.listpack import Listpack

NONE = -1
NEVER = 0  # the time of a field that never expires
OBJECT = 48  # bytes


class Triplets(TimedFields):
    """Each operation is O(N); there are few fields."""

    __slots__ = ("pack",)

    encoding = b"listpackex"

    def __init__(self, pack: Listpack) -> None:
        """What *pack* has, which belongs to this from now on."""
        self.pack = pack
        allocation.used += OBJECT

    def __del__(self) -> None:
        allocation.used -= OBJECT

    @staticmethod
    def of_pairs(pairs: Iterator[tuple[bytes, bytes]]) -> Triplets:
        """Fields and values that never expire."""
        pack = Listpack()
        for field, value in pairs:
            _append(pack, field, value, NEVER)
        return Triplets(pack)

    def check(self) -> None:
        """Raise Corrupt unless the listpack, which was checked as one, is of the form above."""
        if len(self.pack) % 3:
            raise Corrupt("a hash has a field without a value or time")
        fields = set()
        before = 0
        for at in self._places():
            fields.add(self.pack.get_bytes(at))
            when_ms = self._time_at(at)
            if (before == NONE and when_ms != NEVER) or when_ms < 0:
                raise Corrupt("a hash has fields in the wrong order of their times")
            if before > when_ms != NEVER:
                raise Corrupt("a hash has fields in the wrong order of their times")
            before = NONE if when_ms == NEVER else when_ms
        if len(fields) != len(self):
            raise Corrupt("a hash has a field twice")

    # ------------------------------------------------------------------ places

    def _places(self) -> Iterator[int]:
        """Where each triplet begins."""
        pack = self.pack
        at = pack.first()
        while at != NONE:
            yield at
            at = pack.next(pack.behind(pack.behind(at)))

    def _time_at(self, at: int) -> int:
        """The time of the triplet at *at*."""
        pack = self.pack
        return pack.get_int(pack.behind(pack.behind(at)))

    def _take(self, at: int) -> None:
        """Remove the triplet at *at*."""
        for _ in range(3):
            self.pack.delete(at)

    # ------------------------------------------------------------------ fields

    def length(self) -> int:
        return self.pack.length() // 3

    def get(self, field: bytes) -> bytes | None:
        at = self.pack.find(field, 2)
        return None if at == NONE else self.pack.get_bytes(self.pack.behind(at))

    def set(self, field: bytes, value: bytes, keeps_time: bool) -> bool:
        pack = self.pack
        at = pack.find(field, 2)
        if at == NONE:
            _append(pack, field, value, NEVER)
            return True
        pack.replace(pack.behind(at), value)
        if not keeps_time and self._time_at(at) != NEVER:
            self._take(at)
            _append(pack, field, value, NEVER)
        return False

    def remove(self, field: bytes) -> bool:
        at = self.pack.find(field, 2)
        if at == NONE:
            return False
        self._take(at)
        return True

    def items(self) -> Iterator[tuple[bytes, bytes, int]]:
        pack = self.pack
        for at in self._places():
            when_ms = self._time_at(at)
            value = pack.get_bytes(pack.behind(at))
            yield pack.get_bytes(at), value, NO_EXPIRY if when_ms == NEVER else when_ms

    def scan(self, cursor: int, count: int) -> tuple[int, list[bytes]]:
        return 0, [word for field, value, _ in self.items() for word in (field, value)]

    def copy(self) -> Triplets:
        return Triplets(self.pack.copy())

    # ------------------------------------------------------------------ times

    def expiry(self, field: bytes) -> int:
        at = self.pack.find(field, 2)
        when_ms = NEVER if at == NONE else self._time_at(at)
        return NO_EXPIRY if when_ms == NEVER else when_ms

    def expire_at(self, field: bytes, when_ms: int) -> None:
        pack = self.pack
        at = pack.find(field, 2)
        value = pack.get_bytes(pack.behind(at))
        self._take(at)
        if when_ms == NO_EXPIRY:
            _append(pack, field, value, NEVER)
            return
        for later in self._places():
            if self._time_at(later) == NEVER or self._time_at(later) >= when_ms:
                for word in (b"%d" % when_ms, value, field):
                    pack.insert(later, word)
                return
        _append(pack, field, value, when_ms)

    def next_expiry(self) -> int:
        at = self.pack.first()
        when_ms = NEVER if at == NONE else self._time_at(at)
        return NO_EXPIRY if when_ms == NEVER else when_ms

    def due(self, now_ms: int, most: int) -> list[bytes]:
        found: list[bytes] = []
        for at in self._places():
            if not NEVER != self._time_at(at) < now_ms or len(found) == most:
                break
            found.append(self.pack.get_bytes(at))
        return found


def _append(pack: Listpack, field: bytes, value: bytes, when_ms: int) -> None:
    pack.append(field)
    pack.append(value)
    pack.append_int(when_ms)
