"""Up to which sizes values are kept in their compact encodings: parameters."""

from __future__ import annotations

DEFAULT_VALUE = 64  # bytes


class ListpackLimits:
    """At most *entries* members, each of at most *value* bytes: hash-max-listpack-entries, ..."""

    __slots__ = ("entries", "value")

    def __init__(self, entries: int, value: int = DEFAULT_VALUE) -> None:
        self.entries = entries
        self.value = value


class SetLimits:
    """*intset_entries* is set-max-intset-entries, and the others are set-max-listpack-entries and
    set-max-listpack-value (bytes of the longest member).
    """

    __slots__ = ("intset_entries", "listpack_entries", "listpack_value")

    def __init__(
        self, intset_entries: int = 512, listpack_entries: int = 128, listpack_value: int = 64
    ) -> None:
        self.intset_entries = intset_entries
        self.listpack_entries = listpack_entries
        self.listpack_value = listpack_value
