# cython: boundscheck=False, wraparound=False
"""The hash table of a database's keys; storage/hash_table/directory.py says how it grows.

Keys, and values that are small, are copied into the memory of their segment: see segment.py. With
each key goes its *last use*, a number of 32 bits; storage/keyspace/usage.py has its meaning.
"""

from __future__ import annotations

from typing import Any, Final

from storage import allocation, types
from storage.hash_table import fetching, mark_octets
from storage.hash_table.packed_directory import PackedDirectory
from storage.keyspace import item_octets
from storage.keyspace.segment import Segment
from storage.keyspace.settings import LooseKeys
from storage.keyspace.usage import Usage
from storage.value_type import ValueType

NO_KEY: Final = -1
NO_NUMBER: Final = -1

# Bytes that a key takes besides its text and its value: its mark, what else its item has, and a
# share of the spare room.
PLACE_BYTES: Final = 24
SLOT: Final = 8  # bytes that a list takes for each thing in it
FEW: Final = 64  # loose keys, that an empty table need not forget
SHORT: Final = 64  # bytes of such a key
_FEW, _SHORT = FEW, SHORT  # as C numbers


class KeyTable(PackedDirectory):
    """A dict of bytes to objects that grows in small steps and can be scanned with a cursor.

    get, set and pop are O(1): they move 1.4 KB of marks at most, now and then the data of one
    segment, 32 KB at most, and still more seldom the directory, 8 bytes for some 100 keys.
    """

    __slots__ = (
        "_all_loose", "_has_long", "_lent", "_lent_at", "_lent_from", "_loose", "_packs",
    )  # fmt: skip

    def __init__(self, all_loose: LooseKeys | None = None) -> None:
        """*all_loose*: for a table whose values are those of a database; pack() packs small ones.

        Other tables keep objects as they are.
        """
        super().__init__()
        self._all_loose = all_loose
        self._lent: Any = None  # the copy that lend() has made of a packed value
        self._lent_from: Segment | None = None  # where that value is
        self._lent_at = 0  # its number there
        self._packs: type | None = None  # a class whose small values can be packed: the last seen
        self._has_long = False  # whether any of these may be longer than SHORT
        self._loose: list[bytes] = []  # keys of objects that pack() will look at, the oldest first
        self.clear()

    def __del__(self) -> None:
        self._forget_loose(self._loose)
        super().__del__()

    # ------------------------------------------------------------------ one key

    def get(self, key: bytes, default: Any = None) -> Any:
        """The value at *key*, or *default*."""
        prefix = mark_octets.prefix_of(key)
        segment = self._segment_of(prefix)
        at = segment.find(key, prefix)
        return default if at < 0 else self._value_at(segment, at, key, False)

    def look(self, key: bytes) -> Any:
        """The value at *key*, or None, for reading only: changes to it may be lost."""
        prefix = mark_octets.prefix_of(key)
        segment = self._segment_of(prefix)
        at = segment.find(key, prefix)
        return None if at < 0 else segment.copy_at(at)

    def number(self, key: bytes) -> int:
        """The value at *key*, which is a number; or NO_NUMBER if there is no such key."""
        prefix = mark_octets.prefix_of(key)
        segment = self._segment_of(prefix)
        at = segment.find(key, prefix)
        return NO_NUMBER if at < 0 else segment.number_at(at)

    def use(self, key: bytes, last_use: int, reads: bool = False) -> Any:
        """The value at *key*, whose last use becomes *last_use*; None if there is no such key.

        *reads*: the caller changes nothing; what is done to the value may be lost.
        """
        prefix = mark_octets.prefix_of(key)
        segment = self._segment_of(prefix)
        at = segment.find(key, prefix)
        if at < 0:
            return None
        segment.use(at, last_use)
        return self._value_at(segment, at, key, reads)

    def count_use(self, key: bytes, usage: Usage, reads: bool = False) -> Any:
        """The value at *key*, or None; *usage* computes its new last use from the old one."""
        prefix = mark_octets.prefix_of(key)
        segment = self._segment_of(prefix)
        at = segment.find(key, prefix)
        if at < 0:
            return None
        segment.use(at, usage.after_use(segment.last_use_at(at)))
        return self._value_at(segment, at, key, reads)

    def _value_at(self, segment: Segment, at: int, key: bytes, reads: bool) -> Any:
        start = segment.kind_start(at)
        if segment.data[start] >= item_octets.PACKED:
            if reads:
                return segment.unpacked(start)
            self._loosen(key)
        return segment.value_from(start)

    def lend(self, key: bytes, last_use: int) -> Any:
        """Like use(), for a caller that next calls give_back() or forget_lent().

        If many keys are loose already, a packed value stays packed, and this is a copy.
        """
        prefix = mark_octets.prefix_of(key)
        segment = self._segment_of(prefix)
        at = segment.find(key, prefix)
        if at < 0:
            return None
        segment.use(at, last_use)
        lends = self._all_loose is not None and self._all_loose.count >= self._all_loose.many
        value = self._value_at(segment, at, key, lends)
        if lends and segment.kind_at(at) >= item_octets.PACKED:
            self._lent = value
            self._lent_from = segment
            self._lent_at = at
        return value

    def forget_lent(self) -> None:
        """What lend() has given does not change, or is no longer there."""
        self._lent = None
        self._lent_from = None

    def give_back(self, key: bytes, value: Any) -> None:
        """Keep what has become of *value*, if lend() has given it last and it is a copy.

        The table has not changed since.
        """
        segment = self._lent_from
        if segment is not None and value is self._lent:
            self.forget_lent()
            row = types.of_class(type(value))
            text = row.packed(value)
            if text is None:
                self.set(key, value, segment.last_use_at(self._lent_at))
            else:
                start = segment.kind_start(self._lent_at)
                segment.rewrite(self._lent_at, start, item_octets.PACKED + row.number, text)
                self._split_if_long(segment, mark_octets.prefix_of(key))

    def object_of(self, key: bytes) -> Any:
        """The value at *key*, which must be there, if it is kept as an object; else None."""
        prefix = mark_octets.prefix_of(key)
        segment = self._segment_of(prefix)
        at = segment.find(key, prefix)
        return segment.value_at(at) if segment.kind_at(at) == item_octets.OBJECT else None

    def bytes_of(self, key: bytes) -> int:
        """How many bytes *key*, which must be there, takes in the table; of objects their place."""
        prefix = mark_octets.prefix_of(key)
        segment = self._segment_of(prefix)
        return segment.bytes_at(segment.find(key, prefix))

    def touch(self, key: bytes, last_use: int) -> bool:
        """Let the last use of *key* be *last_use*. Returns whether there is such a key."""
        prefix = mark_octets.prefix_of(key)
        segment = self._segment_of(prefix)
        at = segment.find(key, prefix)
        if at < 0:
            return False
        segment.use(at, last_use)
        return True

    def last_use_of(self, key: bytes) -> int:
        """When *key* was used last, or NO_KEY if there is no such key."""
        prefix = mark_octets.prefix_of(key)
        segment = self._segment_of(prefix)
        at = segment.find(key, prefix)
        return NO_KEY if at < 0 else segment.last_use_at(at)

    def set(self, key: bytes, value: Any, last_use: int = 0) -> None:
        """Put *value* at *key*, replacing what was there; its last use is *last_use*."""
        prefix = mark_octets.prefix_of(key)
        segment = self._segment_of(prefix)
        at = segment.find(key, prefix)
        kind = segment.kind_of(value)
        if at >= 0:
            segment.use(at, last_use)
            segment.replace(at, kind, value)
        else:
            segment.insert(-1 - at, key, kind, value, prefix, last_use)
            self.used += 1
        is_loose = kind == item_octets.OBJECT and self._all_loose is not None
        if is_loose and (type(value) is self._packs or self._can_pack(type(value))):
            self._loosen(key)
        self._split_if_long(segment, prefix)

    def keep(self, key: bytes, value: Any, last_use: int) -> None:
        """Put *value*, which nobody changes any more, at *key*, which must be free."""
        row = types.of_class(type(value))
        text = row.packed(value)
        if text is None:
            row.shrink(value)
            self.set(key, value, last_use)
        else:
            self.keep_packed(key, row, text, last_use)

    def keep_packed(self, key: bytes, row: ValueType, text: bytes, last_use: int) -> None:
        """Put the value of the type *row* that is packed as *text* at *key*, which must be free."""
        prefix = mark_octets.prefix_of(key)
        segment = self._segment_of(prefix)
        at = -1 - segment.find(key, prefix)
        segment.insert(at, key, item_octets.PACKED + row.number, text, prefix, last_use)
        self.used += 1
        self._split_if_long(segment, prefix)

    def pop(self, key: bytes, default: Any = None) -> Any:
        """Remove *key* and return its value, or *default* if it does not exist."""
        prefix = mark_octets.prefix_of(key)
        segment = self._segment_of(prefix)
        at = segment.find(key, prefix)
        if at < 0:
            return default
        value = segment.copy_at(at)
        self.remove_at(segment, at, prefix)
        if self.used == 0 and (self._has_long or len(self._loose) > _FEW):
            self._forget_all_loose()
        return value

    def discard(self, key: bytes) -> bool:
        """Remove *key*. Returns whether it was there."""
        prefix = mark_octets.prefix_of(key)
        segment = self._segment_of(prefix)
        at = segment.find(key, prefix)
        if at < 0:
            return False
        self.remove_at(segment, at, prefix)
        if self.used == 0 and (self._has_long or len(self._loose) > _FEW):
            self._forget_all_loose()
        return True

    # ------------------------------------------------------------------ small values

    def pack(self, count: int) -> None:
        """Pack the values of the *count* keys that have been loose longest, if they are small.

        Nobody may have a reference to such a value: what is done to it would be lost.
        """
        keys = self._loose[:count]
        del self._loose[:count]
        self._forget_loose(keys)
        for first in range(0, len(keys), fetching.MOST):
            some = keys[first : first + fetching.MOST]
            self.fetch(some)
            for key in some:
                prefix = mark_octets.prefix_of(key)
                segment = self._segment_of(prefix)
                at = segment.find(key, prefix)
                if at >= 0:
                    segment.pack(at)
                    self._split_if_long(segment, prefix)

    @property
    def loose(self) -> int:
        """How many keys pack() could look at."""
        return len(self._loose)

    def _can_pack(self, kind: type) -> bool:
        """Whether small values of the class *kind* can be packed; remember it if so."""
        packs = types.packs(kind)
        if packs:
            self._packs = kind
        return packs

    def _loosen(self, key: bytes) -> None:
        self._loose.append(key)
        if len(key) > _SHORT:
            self._has_long = True
        allocation.used += SLOT + allocation.of_bytes(key)
        if self._all_loose is not None:
            self._all_loose.count += 1

    def _forget_all_loose(self) -> None:
        self._forget_loose(self._loose)
        self._loose = []
        self._has_long = False

    def _forget_loose(self, keys: list[bytes]) -> None:
        for key in keys:
            allocation.used -= SLOT + allocation.of_bytes(key)
        if self._all_loose is not None:
            self._all_loose.count -= len(keys)

    # ------------------------------------------------------------------ by place

    def key_at(self, place: int) -> bytes:
        """The key at that place."""
        return self.segment_at(place).key_at(place & mark_octets.AT_MASK)

    # ------------------------------------------------------------------ all keys

    def clear(self) -> None:
        """Forget all keys."""
        self._forget_all_loose()
        self._begin_packed(Segment(0))

    def _segment_of(self, prefix: int) -> Segment:
        segment: Segment = self._directory[prefix >> self._shift]
        return segment

    def segment_at(self, place: int) -> Segment:
        """The segment of that place."""
        segment: Segment = self._directory[place >> mark_octets.AT_BITS]
        return segment
