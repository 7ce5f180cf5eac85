"""The figures of a stream and of its groups, from whatever server. What is not known is None."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

Number: TypeAlias = int | None

NO_DEAD_LETTERS = b""  # a group that keeps none, which is known


@dataclass(frozen=True, slots=True)
class Group:
    """A consumer group."""

    name: bytes
    consumers: Number = None
    pending: Number = None
    lag: Number = None
    last_delivered_id: str = "0-0"
    oldest_ms: Number = None  # since the oldest delivery that is not acknowledged
    redelivered: Number = None
    dead_lettered: Number = None  # since the server started
    paused: bool | None = None
    dead_letter: bytes | None = None  # where they go
    policy: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream, its own figures and those of its groups."""

    key: bytes
    length: Number = None
    octets: Number = None
    entries_added: Number = None
    last_id: str = "0-0"
    scheduled: Number = None
    policy: tuple[str, ...] = ()
    groups: tuple[Group, ...] | None = None  # None: they could not be asked for

    @property
    def pending(self) -> Number:
        return _total([group.pending for group in self.groups or ()], self.groups is not None)

    @property
    def consumers(self) -> Number:
        return _total([group.consumers for group in self.groups or ()], self.groups is not None)

    @property
    def lag(self) -> Number:
        """The largest of its groups; None if there is none, or if one of them is not known."""
        lags = [group.lag for group in self.groups or ()]
        known = [lag for lag in lags if lag is not None]
        return max(known) if known and len(known) == len(lags) else None

    @property
    def oldest_ms(self) -> Number:
        ages = [group.oldest_ms for group in self.groups or () if group.oldest_ms is not None]
        return max(ages, default=None)


def _total(numbers: list[Number], known: bool) -> Number:
    """The sum, if all of it is known."""
    if not known or None in numbers:
        return None
    return sum(number for number in numbers if number is not None)


def number(value: Any) -> Number:
    """Of a reply: an integer, or the text of one; None for anything else."""
    if isinstance(value, int):
        return value
    if isinstance(value, bytes | str):
        try:
            return int(value)
        except ValueError:
            return None
    return None
