"""The life of a server: loading, serving, stopping, closed."""

from __future__ import annotations

from enum import Enum, auto

from server.parts.restrictions import Restrictions


class Phase(Enum):
    """Where a server is in its life. Each comes at most once, in this order."""

    LOADING = auto()  # clients get -LOADING
    SERVING = auto()
    STOPPING = auto()  # nothing is run for anybody any more
    CLOSED = auto()


class Life:
    """The *phase* of a server; *restrictions* refuse clients what it does not allow."""

    def __init__(self, restrictions: Restrictions) -> None:
        self.phase = Phase.LOADING
        self._restrictions = restrictions

    @property
    def is_over(self) -> bool:
        """Whether nothing is run for anybody any more."""
        return self.phase in (Phase.STOPPING, Phase.CLOSED)

    def enter(self, phase: Phase) -> None:
        self.phase = phase
        self._restrictions.set_phase(loading=phase is Phase.LOADING, stopping=self.is_over)
