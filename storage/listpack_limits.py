"""Up to which size a value is one listpack: parameters of hashes and other types."""

from __future__ import annotations

DEFAULT_VALUE = 64  # bytes


class ListpackLimits:
    """At most *entries* members, each of at most *value* bytes: hash-max-listpack-entries, ..."""

    __slots__ = ("entries", "value")

    def __init__(self, entries: int, value: int = DEFAULT_VALUE) -> None:
        self.entries = entries
        self.value = value
