"""What the server has to know about a kind of side data: the base of each row of kinds.py."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from storage.value_type import Words


class SideKind:
    """A kind of side data. A subclass says what its values are.

    *name* identifies it in files, where it must never change its meaning.
    """

    def __init__(self, name: bytes) -> None:
        self.name = name

    def copy(self, value: Any) -> Any:
        """A value that is equal and shares nothing with *value* that can change."""
        raise NotImplementedError

    def dump(self, value: Any) -> bytes:
        """The bytes of *value*: equal ones for equal values."""
        raise NotImplementedError

    def load(self, data: bytes) -> Any:
        """The value whose bytes these are. Raises Corrupt."""
        raise NotImplementedError

    def digest(self, value: Any) -> bytes:
        """What two servers that hold the same data have alike of *value*."""
        return self.dump(value)

    def memory(self, value: Any) -> int:
        """About how many bytes *value* takes."""
        return len(self.dump(value))

    def is_large(self, value: Any) -> bool:
        """Whether *value* takes long to be freed: it has a method ``shed`` then."""
        return False

    def written_keys(self, value: Any) -> tuple[bytes, ...]:
        """Keys that the server may write because of *value*: who sets it needs the right to."""
        return ()

    def commands(self, key: bytes, group: bytes | None, value: Any) -> Iterator[Words]:
        """The commands that set *value* again, beside *key* or one of its groups."""
        raise NotImplementedError


class UnknownKind(SideKind):
    """A kind of a later version: its bytes are kept as they are, and saved again."""

    def copy(self, value: bytes) -> bytes:
        return value

    def dump(self, value: bytes) -> bytes:
        return value

    def load(self, data: bytes) -> bytes:
        return data

    def commands(self, _key: bytes, _group: bytes | None, _value: bytes) -> Iterator[Words]:
        """Nobody knows them."""
        return iter(())
