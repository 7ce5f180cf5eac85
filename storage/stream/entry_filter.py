# cython: boundscheck=False, wraparound=False
"""Which entries have one of some values in a field, as the bytes of their listpacks say.

    field type, values order and refund       5-0  type order  amount 7         is one
                                              6-0  kind order                   is not
                                              7-0  type parcel  type refund     is one

Values are compared byte by byte, as they were added: ``07`` is not ``7``. An entry that is passed
by makes no object; only where there are more than FEW values, the one that it has is made.
"""

from __future__ import annotations

from hashlib import sha256

from storage import octets
from storage.listpack import element_octets
from storage.listpack.listpack import Listpack
from storage.stream.stream_iterator import StreamIterator

FEW = 16  # values that are compared one after the other
MANY_FIELDS = 16  # an entry counts once more for each so many fields


class EntryFilter:
    """Finds the entries of walks that have one of *values* in the field *name*.

    In all it looks at *left* entries (fewer, if they have many fields), and *is_cut* says that
    there were more. *passed* counts those that were passed by since the last one was found, from
    *first* to *last*; *looks* those beside walks that were compared, for who limits them.
    """

    __slots__ = (
        "_digest", "_many", "_name", "_name_is_number", "_name_number", "_names_at", "_node",
        "_numbers", "_texts", "first_ms", "first_seq", "is_cut", "last_ms", "last_seq", "left",
        "looks", "passed",
    )  # fmt: skip

    def __init__(self, name: bytes, values: list[bytes], left: int) -> None:
        self._name = name
        self._name_is_number = octets.is_int64(name)
        self._name_number = octets.int64_of(name) if octets.is_int64(name) else 0
        self._texts = values
        self._numbers = [octets.int64_of(value) for value in values if octets.is_int64(value)]
        self._many = frozenset(values) if len(values) > FEW else None
        self._digest = b""
        self._node: Listpack | None = None  # whose master fields are looked through
        self._names_at: list[int] = []  # which of them have the name, from 0
        self.left = left
        self.is_cut = False
        self.looks = 0
        self.passed = 0
        self.first_ms = self.first_seq = 0
        self.last_ms = self.last_seq = 0

    def digest(self) -> bytes:
        """What stands for its field and values, in their order. O(values) the first time."""
        if not self._digest:
            words = [self._name, *self._texts]
            found = sha256(b",".join([b"%d" % len(word) for word in words]))
            for word in words:
                found.update(word)
            self._digest = found.digest()
        return self._digest

    def rest(self) -> None:
        """Its client waits: hold no node, which may be deleted meanwhile."""
        self._node = None

    def begin_again(self, left: int) -> None:
        """Look at *left* entries of other walks, as if it was new."""
        self._node = None  # it may have been rewritten
        self.left = left
        self.is_cut = False
        self.passed = 0
        self.first_ms = self.first_seq = 0
        self.last_ms = self.last_seq = 0

    def may_look(self) -> bool:
        """Count a look at one more entry. False, and it is cut, if there may be none."""
        self.is_cut = self.left <= 0
        self.left -= 1
        return not self.is_cut

    def find(self, entry: StreamIterator) -> bool:
        """Go on to the next entry of the walk that is one. False if there is none, or it is cut.

        O(1) an entry, times its fields.
        """
        self.passed = 0
        while entry.next():
            if self.left <= 0:
                self.is_cut = True
                return False
            self.left -= 1 + entry.num_fields // MANY_FIELDS
            if self.matches(entry):
                return True
            self.last_ms, self.last_seq = entry.ms, entry.seq
            if self.passed == 0:
                self.first_ms, self.first_seq = entry.ms, entry.seq
            self.passed += 1
        return False

    def matches(self, entry: StreamIterator) -> bool:
        """Whether the entry at which *entry* stands is one."""
        node = entry.node
        assert node is not None
        data = node.data
        at = entry.fields_at
        if entry.same_fields:
            if node is not self._node:
                self._find_name(entry, node)
            behind = 0
            for field in self._names_at:
                while behind < field:
                    at = element_octets.after(data, at)
                    behind += 1
                if self._has_value(node, at):
                    return True
            return False
        for _ in range(entry.num_fields):
            value_at = element_octets.after(data, at)
            if self._is_name(data, at) and self._has_value(node, value_at):
                return True
            at = element_octets.after(data, value_at)
        return False

    def _find_name(self, entry: StreamIterator, node: Listpack) -> None:
        """Look through the names of the master entry."""
        self._node = node
        self._names_at = []
        at = entry.names_at
        for field in range(entry.master_fields):
            if self._is_name(node.data, at):
                self._names_at.append(field)
            at = element_octets.after(node.data, at)

    def _is_name(self, data: bytearray, at: int) -> bool:
        if element_octets.is_string(data, at):
            return _is_text(data, at, self._name)
        return self._name_is_number and element_octets.number_at(data, at) == self._name_number

    def _has_value(self, node: Listpack, at: int) -> bool:
        if self._many is not None:
            return node.get_bytes(at) in self._many
        data = node.data
        if element_octets.is_string(data, at):
            for text in self._texts:  # noqa: SIM110  compiled, there are no generators
                if _is_text(data, at, text):
                    return True
            return False
        number = element_octets.number_at(data, at)
        for wanted in self._numbers:  # noqa: SIM110  as above
            if number == wanted:
                return True
        return False


def _is_text(data: bytearray, at: int, text: bytes) -> bool:
    """Whether the string at *at* is *text*."""
    head = element_octets.head_size(data, at)
    size = element_octets.encoded_size(data, at) - head
    return size == len(text) and octets.holds(data, at + head, text)
