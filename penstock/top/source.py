"""Where the figures come from: what each kind of source answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass, field

from penstock.top.figures import Stream
from penstock.top.server import is_denied, reason


@dataclass(slots=True)
class Look:
    """What one look, or a part of it, has found."""

    streams: list[Stream] = field(default_factory=list)
    gone: list[bytes] = field(default_factory=list)
    all_keys: Collection[bytes] | None = None  # if it is known by now which streams there are


class Denials:
    """What the user may not do: each is said once, however often it was refused."""

    def __init__(self) -> None:
        self.said: dict[str, str] = {}  # by what was asked

    def note(self, asked: str, answer: object) -> bool:
        """Whether *answer*, to what was *asked*, says that this is not allowed."""
        if not is_denied(answer):
            return False
        assert isinstance(answer, BaseException)
        self.said.setdefault(asked, reason(answer))
        return True


class Source(ABC):
    """Asks one server for the figures of its streams."""

    def __init__(self) -> None:
        self.denials = Denials()
        self.has_all = False  # whether all streams have been found, and asked for their figures

    @abstractmethod
    def look(self, wanted: Collection[bytes]) -> AsyncIterator[Look]:
        """Look once, in parts. *wanted* are the streams that people see at the moment.

        A server that is asked little at a time need not be asked about all streams at each look.
        """
