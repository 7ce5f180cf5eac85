"""What a live stream does again and again: a task, when it is due, and when it has news."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

from server.console.local_client import LocalClient
from server.console.runner import Job
from server.console.words import Watched, WatchedStreams, Watching

# The share of the time that a task may take: 1/20. Then it comes more rarely than was asked for.
# Defends other clients against what is watched.
SHARE = 20
NS_A_MS = 1_000_000


class Commands(NamedTuple):
    """The replies to these commands."""

    db: int
    watched: Watched


class Streams(NamedTuple):
    """The figures of all streams that match a pattern."""

    db: int
    watched: WatchedStreams


Subject: TypeAlias = Commands | Streams


def subjects_of(wanted: Watching) -> list[Subject]:
    """What is to be watched, each thing once."""
    subjects: list[Subject] = [Commands(wanted.db, watched) for watched in wanted.watches]
    if wanted.streams is not None:
        subjects.append(Streams(wanted.db, wanted.streams))
    return list(dict.fromkeys(subjects))


class Task(Job):
    """Looks at its *subject* as *client*, and calls *tell* when there is news to be sent."""

    subject: Subject

    def __init__(self, client: LocalClient, tell: Callable[[], None]) -> None:
        self.client = client
        self._tell = tell
        self.every_ms = 0
        self.is_paused = False
        self._is_cancelled = False
        self._is_on = False
        self._begun_ms = self._due_ms = 0

    # ------------------------------------------------------------------ when it is due

    def is_due(self, now_ms: int) -> bool:
        """Whether to look. Not before what was found the last time has been sent."""
        return not (self.is_paused or self._is_on or self.has_news) and now_ms >= self._due_ms

    def begin(self, now_ms: int) -> None:
        """It is going to be run."""
        self._is_on = True
        self._begun_ms = now_ms
        self.cost_ns = 0

    def done(self) -> None:
        self._is_on = False
        pause_ms = max(self.every_ms, SHARE * self.cost_ns // NS_A_MS)
        self._due_ms = self._begun_ms + pause_ms
        if self.has_news:
            self._tell()

    def lost(self, may_have_run: bool) -> None:
        """Its live stream ends, too."""

    def cancel(self) -> None:
        """Nobody wants to know any more."""
        self._is_cancelled = True

    # ------------------------------------------------------------------ what was found

    @property
    @abstractmethod
    def has_news(self) -> bool:
        """Whether something was found that is to be sent."""

    @abstractmethod
    def event(self) -> Iterator[str]:
        """The text of an event with news, in pieces."""
