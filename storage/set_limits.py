"""How large a set may be in its compact encodings: three parameters."""

from __future__ import annotations


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
