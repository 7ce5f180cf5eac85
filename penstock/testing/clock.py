"""Times and spans as DEBUG CLOCK has them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from penstock.testing.control import Word

UNITS = ("weeks", "days", "hours", "minutes", "seconds", "milliseconds", "microseconds")


def span_of(span: object, parts: Mapping[str, float]) -> timedelta:
    """What travel() was asked for: *span*, or its *parts* by name. Raises TypeError."""
    if unknown := parts.keys() - set(UNITS):
        raise TypeError(f"travel() knows {', '.join(UNITS)}, but no {', '.join(sorted(unknown))}")
    if span is None and parts:
        return timedelta(**parts)
    if isinstance(span, timedelta) and not parts:
        return span
    given = "both" if parts else "nothing" if span is None else repr(span)
    raise TypeError(f"travel() takes a timedelta, or its parts as hours=1; it was given {given}")


def checked_moment(moment: object) -> datetime:
    """*moment*, if it is a datetime and has a zone. Raises TypeError, ValueError."""
    if not isinstance(moment, datetime):
        raise TypeError(f"a time is a datetime with a zone, not {moment!r}")
    if moment.utcoffset() is None:
        raise ValueError(f"{moment!r} has no zone: say which one, as tzinfo=UTC")
    return moment


def moved_by(span: timedelta) -> tuple[Word, ...]:
    """The command that moves the server's clock by *span*, back if that is negative."""
    return ("DEBUG", "CLOCK", f"{milliseconds(span):+d}ms")


def set_to(moment: datetime) -> tuple[Word, ...]:
    """The command that sets the server's clock. *moment* has a zone."""
    return ("DEBUG", "CLOCK", "AT", unix_ms(moment))


class ClockState(NamedTuple):
    """Where the clock stands: so far from the system's, or frozen at a time."""

    offset_ms: int
    is_frozen: bool
    now_ms: int

    @property
    def now(self) -> datetime:
        """Its time, in UTC."""
        return EPOCH + timedelta(milliseconds=self.now_ms)

    def commands(self) -> list[tuple[Word, ...]]:
        """What brings the server's clock into this state."""
        if self.is_frozen:
            return [("DEBUG", "CLOCK", "FREEZE"), ("DEBUG", "CLOCK", "AT", self.now_ms)]
        back_to_it = moved_by(timedelta(milliseconds=self.offset_ms))
        return [("DEBUG", "CLOCK", "RESET"), *([back_to_it] if self.offset_ms else [])]


def state_of(report: list[bytes | int]) -> ClockState:
    """The reply to any DEBUG CLOCK."""
    fields = dict(zip(report[::2], report[1::2], strict=True))
    return ClockState(
        int(fields[b"offset-ms"]), bool(int(fields[b"frozen"])), int(fields[b"now-ms"])
    )


def milliseconds(span: timedelta) -> int:
    return span // timedelta(milliseconds=1)


def unix_ms(moment: datetime) -> int:
    """Milliseconds since 1970."""
    return milliseconds(moment - EPOCH)


def from_unix(seconds: int) -> datetime:
    """Unix time as a time in UTC."""
    return EPOCH + timedelta(seconds=seconds)


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
