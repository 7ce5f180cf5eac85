"""What a worker has in hand: jobs that wait for their turn, and what has become of others.

A worker reads many jobs at a time, and tells the server of many at a time. So that nobody notices:

- it reads ahead as much as it does in AHEAD_S, by how long jobs took of late. If they take longer
  than that, it reads no job that it cannot begin at once;
- what has waited here for HOLD_S, since a job before it was slow, goes back to the queue uncounted;
- what is done is told within KEEP_S (words.py), however long the next job takes.

The time comes in as an argument. All threads of a worker share one hand, without a lock: deques
give and take one item at a time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from enum import Enum, auto
from typing import Any, TypeAlias

Entry: TypeAlias = tuple[Any, dict[Any, Any]]

AHEAD_S = 0.05
HOLD_S = 1.0
MOST = 500  # jobs that are read at a time
NEWEST = 0.1  # the weight of the newest job in the mean


class Outcome(Enum):
    """What has become of a job."""

    DONE = auto()
    REJECTED = auto()
    RELEASED = auto()  # it was not begun


Outcomes: TypeAlias = list[tuple[Outcome, list[Any]]]


class Hand:
    """The jobs of a worker that does *abreast* at a time, and has *visible_s* seconds for each."""

    def __init__(self, abreast: int, visible_s: float) -> None:
        self._abreast = abreast
        self._visible_s = visible_s
        self._hold_s = min(HOLD_S, visible_s / 2)
        self._mean_s = AHEAD_S
        self._waiting: deque[tuple[float, Entry]] = deque()  # and when each was read
        self._begun: set[Any] = set()
        self._outcomes: dict[Outcome, deque[Any]] = {outcome: deque() for outcome in Outcome}

    def room(self) -> int:
        """How many jobs to read now, at least one."""
        free = self._abreast - len(self._begun)
        ahead = int(self._abreast * AHEAD_S / self._mean_s)
        return max(1, min(MOST, max(free, ahead)))

    def is_empty(self) -> bool:
        """Whether no job waits."""
        return not self._waiting

    def give(self, entries: Iterable[Entry], now: float) -> None:
        """Put jobs here that were asked for at *now*."""
        self._waiting.extend((now, entry) for entry in entries)

    def begin(self, now: float) -> Entry | None:
        """The next job, which begins now; None if there is none. It is another's if it is late."""
        while self._waiting:
            try:
                read, entry = self._waiting.popleft()
            except IndexError:  # another thread was faster
                break
            if now - read < self._visible_s:
                self._begun.add(entry[0])
                return entry
        return None

    def end(self, job_id: Any, outcome: Outcome | None, took_s: float) -> None:
        """A job that had begun is over. None: it stays pending until its visibility ends."""
        self._begun.discard(job_id)
        self._mean_s += (max(took_s, 1e-6) - self._mean_s) * NEWEST
        if outcome is not None:
            self._outcomes[outcome].append(job_id)

    def release(self, now: float) -> None:
        """Give back what has waited for too long at *now*; infinity: all that waits."""
        while self._waiting:
            try:
                read, entry = self._waiting.popleft()
            except IndexError:
                return
            if now - read < self._hold_s:
                self._waiting.appendleft((read, entry))
                return
            self._outcomes[Outcome.RELEASED].append(entry[0])

    def take_outcomes(self) -> Outcomes:
        """What the server has not been told."""
        return [
            (outcome, [ids.popleft() for _ in range(len(ids))])
            for outcome, ids in self._outcomes.items()
            if ids
        ]

    def put_back(self, outcomes: Outcomes) -> None:
        """The server could not be told: keep these for the next time."""
        for outcome, ids in outcomes:
            self._outcomes[outcome].extend(ids)
