# cython: boundscheck=False, wraparound=False
"""A hash: fields and their values, in one listpack while it is small, else in a table.

    pack      field, value, field, value, ...      in the order in which the fields were added
    table     field -> value                       in no order
    timed     the same two forms for a hash of which some fields expire: timed_fields.py

It begins as a listpack. It becomes a table when it gets more fields, or a longer field or value,
than the limits allow (hash-max-listpack-entries and hash-max-listpack-value in redis.conf), and
stays one.
"""

from __future__ import annotations

from collections.abc import Iterator

from storage import allocation
from storage.chance import Chance
from storage.hash_table.packed_table import PackedTable
from storage.hashes.timed_fields import NO_EXPIRY, TimedFields
from storage.hashes.timed_table import TimedTable
from storage.hashes.triplets import Triplets
from storage.limits import ListpackLimits
from storage.listpack.listpack import Listpack

NONE = -1
HEADS = 32  # bytes; what a field and its value have besides their texts, on the safe side
MOST = 1 << 30  # bytes of a listpack: no larger one can be made
OBJECT = 48  # bytes, compiled
FEW = 3  # up to a third of all fields are drawn one by one
NO_FIELDS: frozenset[bytes] = frozenset()


class Hash:
    """Fields and their values, all byte strings. Its form is *pack*, *table* or *timed*; the others
    are None.

    What concerns one field is O(1), as long as the limits of a listpack are small.
    """

    __slots__ = ("pack", "table", "timed")

    def __init__(self, pack: Listpack | None = None) -> None:
        """A hash of what *pack* has, which belongs to the hash from now on."""
        self.pack: Listpack | None = Listpack() if pack is None else pack
        self.table: PackedTable | None = None
        self.timed: TimedFields | None = None
        allocation.used += OBJECT

    def __del__(self) -> None:
        allocation.used -= OBJECT

    def __len__(self) -> int:
        return self.length()

    def length(self) -> int:
        """How many fields there are."""
        if self.pack is not None:
            return self.pack.length() >> 1
        if self.table is not None:
            return self.table.used
        return 0 if self.timed is None else len(self.timed)

    @property
    def encoding(self) -> bytes:
        """The answer of OBJECT ENCODING."""
        if self.timed is not None:
            return self.timed.encoding
        return b"listpack" if self.pack is not None else b"hashtable"

    # ------------------------------------------------------------------ one field

    def get(self, field: bytes) -> bytes | None:
        """The value of *field*, or None."""
        pack = self.pack
        if pack is None:
            if self.timed is not None:
                return self.timed.get(field)
            return self.as_table().get(field)  # type: ignore[no-any-return]
        at = pack.find(field, 1)
        return None if at == NONE else pack.get_bytes(pack.behind(at))

    def has(self, field: bytes) -> bool:
        """Whether there is *field*."""
        if self.pack is None:
            if self.timed is not None:
                return self.timed.get(field) is not None
            return self.as_table().has(field)
        return self.pack.find(field, 1) != NONE

    def set(self, field: bytes, value: bytes, limits: ListpackLimits) -> bool:
        """Give *field* that value; it expires no more. True if the field is new."""
        pack = self.pack
        if pack is None or not _has_room(pack, len(field), len(value), limits):
            if self.timed is not None:
                return self._set_timed(field, value, limits, False)
            return self.as_table().set(field, value)
        at = pack.find(field, 1)
        if at != NONE:
            pack.replace(pack.behind(at), value)
        else:
            pack.append(field)
            pack.append(value)
        if pack.length() >> 1 > limits.entries:
            self.as_table()
        return at == NONE

    def put(self, words: list[bytes], first: int, limits: ListpackLimits) -> int:
        """Set the fields and values ``words[first:]``, in turns; return how many fields are new."""
        if (len(words) - first) >> 1 > limits.entries and self.timed is None:
            self.as_table()
        added = 0
        for at in range(first, len(words) - 1, 2):
            added += self.set(words[at], words[at + 1], limits)
        return added

    def remove(self, field: bytes) -> bool:
        """Remove *field*. False if there is none."""
        pack = self.pack
        if pack is None:
            if self.timed is not None:
                return self.timed.remove(field)
            return self.as_table().discard(field)
        at = pack.find(field, 1)
        if at == NONE:
            return False
        pack.delete(at)
        pack.delete(at)
        return True

    # ------------------------------------------------------------------ many fields

    def __iter__(self) -> Iterator[tuple[bytes, bytes]]:
        """All fields with their values. The hash must not change meanwhile."""
        if self.timed is not None:
            for field, value, _ in self.timed.items():
                yield field, value
            return
        pack = self.pack
        if pack is None:
            yield from self.as_table().items()
            return
        at = pack.first()
        while at != NONE:
            behind = pack.behind(at)
            yield pack.get_bytes(at), pack.get_bytes(behind)
            at = pack.next(behind)

    def scan(self, cursor: int, count: int) -> tuple[int, list[bytes]]:
        """About *count* fields from *cursor* on, each with its value after it; the next cursor.

        0 is the first cursor, and the one after the last page. A field that is there all the time
        is in one page, and in no other while the hash is a table; a listpack is one page.
        """
        if self.timed is not None:
            return self.timed.scan(cursor, count)
        if self.pack is not None:
            return 0, [word for pair in self for word in pair]
        return self.as_table().scan_items(cursor, count)

    def draws(
        self, chance: Chance, dead: frozenset[bytes] = NO_FIELDS
    ) -> Iterator[tuple[bytes, bytes]]:
        """Random fields with their values, without end: each draw is from all that are not *dead*,
        of which there must be one.
        """
        table = self._table_without(dead)
        if table is None:
            pairs = [pair for pair in self if pair[0] not in dead]
            while True:
                yield pairs[chance.below(len(pairs))]
        while True:
            field = table.random_key(chance)
            assert field is not None
            yield field, table.get(field)

    def sample(
        self, chance: Chance, count: int, dead: frozenset[bytes] = NO_FIELDS
    ) -> list[tuple[bytes, bytes]]:
        """*count* different fields with their values, and no more than are not *dead*. O(count),
        but O(N) if some are.

        All fields come in the order of __iter__.
        """
        if self._table_without(dead) is not None and FEW * count < self.length():
            found: dict[bytes, bytes] = {}
            draws = self.draws(chance)
            while len(found) < count:
                field, value = next(draws)
                found[field] = value
            return list(found.items())
        pairs = [pair for pair in self if pair[0] not in dead]
        if count < len(pairs):
            for at in range(count):
                other = at + chance.below(len(pairs) - at)
                pairs[at], pairs[other] = pairs[other], pairs[at]
        return pairs[:count]

    def _table_without(self, dead: frozenset[bytes]) -> PackedTable | None:
        """The table that has no other fields than those of the hash that are not *dead*."""
        if isinstance(self.timed, TimedTable) and not dead:
            return self.timed.table
        return self.table

    def copy(self) -> Hash:
        """Another hash of the same fields and values. O(bytes)."""
        made = Hash()
        made.pack = None if self.pack is None else self.pack.copy()
        made.table = None if self.table is None else self.table.copy()
        made.timed = None if self.timed is None else self.timed.copy()
        return made

    # ------------------------------------------------------------------ fields that expire

    @staticmethod
    def of_timed(timed: TimedFields, limits: ListpackLimits) -> Hash:
        """A hash of *timed*, which belongs to it from now on."""
        made = Hash()
        made.pack = None
        made.timed = timed
        made._follow_limits(limits)
        return made

    def set_keeping_time(self, field: bytes, value: bytes, limits: ListpackLimits) -> bool:
        """Like set, but the field expires when it would have."""
        if self.timed is None:
            return self.set(field, value, limits)
        return self._set_timed(field, value, limits, True)

    def _set_timed(
        self, field: bytes, value: bytes, limits: ListpackLimits, keeps_time: bool
    ) -> bool:
        timed = self.as_timed()
        if isinstance(timed, Triplets) and not _has_room(
            timed.pack, len(field), len(value), limits
        ):
            timed = self.timed = TimedTable.of_items(timed.items())
        is_new: bool = timed.set(field, value, keeps_time)
        self._follow_limits(limits)
        return is_new

    def _follow_limits(self, limits: ListpackLimits) -> None:
        timed = self.timed
        if isinstance(timed, Triplets) and len(timed) > limits.entries:
            self.timed = TimedTable.of_items(timed.items())

    def expiry(self, field: bytes) -> int:
        """When *field* expires, in unix ms, or NO_EXPIRY; that also if there is no such field."""
        return NO_EXPIRY if self.timed is None else self.timed.expiry(field)

    def expire_at(self, field: bytes, when_ms: int) -> None:
        """Let *field*, which must be there, expire at *when_ms*; with NO_EXPIRY, never."""
        timed = self.as_timed()
        if isinstance(timed, Triplets) and timed.pack.size + HEADS > MOST:  # a time may need more
            timed = self.timed = TimedTable.of_items(timed.items())
        timed.expire_at(field, when_ms)

    def next_expiry(self) -> int:
        """When the first field expires, in unix ms, or NO_EXPIRY."""
        return NO_EXPIRY if self.timed is None else self.timed.next_expiry()

    def as_timed(self) -> TimedFields:
        """The fields in the form that has times; they get that form now, if needed. O(N) then."""
        timed = self.timed
        if timed is None:
            pack = self.pack
            if pack is not None and pack.size + pack.length() <= MOST:  # two bytes for each time
                timed = Triplets.of_pairs(iter(self))
            else:
                timed = TimedTable.of_table(self.as_table())
            self.timed = timed
            self.pack = None
            self.table = None
        return timed

    # ------------------------------------------------------------------ the two forms

    def as_table(self) -> PackedTable:
        """The table; it is made of the listpack now, if there is one. O(N) then."""
        table = self.table
        if table is None:
            table = PackedTable()
            for field, value in self:
                table.set(field, value)
            self.table = table
            self.pack = None
        return table

    def shrink(self) -> None:
        """Give back memory that is not in use."""
        if self.pack is not None:
            self.pack.shrink()


def _has_room(pack: Listpack, field: int, value: int, limits: ListpackLimits) -> bool:
    """Whether *pack* may get a field and a value of so many bytes."""
    return (
        field <= limits.value
        and value <= limits.value
        and pack.size + field + value + HEADS <= MOST
    )


def of_pack(pack: Listpack) -> Hash:
    """The hash of what *pack* has, which belongs to the hash from now on."""
    made = Hash.__new__(Hash)
    made.pack = pack
    made.table = None
    made.timed = None
    allocation.used += OBJECT
    return made
