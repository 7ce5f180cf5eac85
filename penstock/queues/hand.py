"""What a worker has in hand: jobs that wait for their turn, and what has become of others.

A worker reads many jobs at a time, and tells the server of many at a time. So that nobody notices:

- it reads ahead as much as it does in AHEAD_S, by how long jobs took of late, and up to MOST_BYTES.
  If they take longer than that, it reads no job that it cannot begin at once;
- what has waited here for HOLD_S, or half of its visibility, since a job before it was slow, goes
  back to the queue uncounted;
- what is done is told within KEEP_S (worker_words.py), however long the next job takes.

The time comes in as an argument. All threads of a worker share one hand, without a lock: deques
give and take one item at a time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any, NamedTuple, TypeAlias

Entry: TypeAlias = tuple[Any, dict[Any, Any]]

AHEAD_S = 0.05
HOLD_S = 1.0
MOST = 500  # jobs that are read at a time
MOST_BYTES = 8 << 20  # of them, unless the first one alone has more
NEWEST = 0.1  # the weight of the newest job in the mean


class Outcome(NamedTuple):
    """What has become of a job: the words of XNACK that say so; no mode, and it is done: XACK.

    XNACK takes a job from any worker. So if the job may be another's by now, the outcome is late:
    who tells it asks before whether the job is still ours.
    """

    mode: str = ""
    options: tuple[Any, ...] = ()
    is_late: bool = False


DONE = Outcome()
RELEASED = Outcome("SILENT")  # it was not begun
FAILED, REJECTED = "FAIL", "FATAL"  # modes

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
        self._outcomes: deque[tuple[Outcome, Any]] = deque()

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
        """The next job, which begins now; None if there is none."""
        while True:
            try:
                read, entry = self._waiting.popleft()
            except IndexError:
                return None
            if now - read < self._hold_s:
                self._begun.add(entry[0])
                return entry
            self._give_back(entry, now - read)

    def end(
        self, job_id: Any, outcome: Outcome | None, took_s: float, kept_s: float | None = None
    ) -> None:
        """A job that had begun is over. None: there is nothing to tell.

        *kept_s* is how long after its beginning it may become another's, if it has been extended.
        """
        self._begun.discard(job_id)
        self._mean_s += (max(took_s, 1e-6) - self._mean_s) * NEWEST
        is_late = took_s + self._hold_s >= (self._visible_s if kept_s is None else kept_s)
        if outcome is not None:
            self._outcomes.append((_late(outcome) if is_late else outcome, job_id))

    def release(self, now: float, *, everything: bool = False) -> None:
        """Give back what has waited here for too long, or all that waits."""
        while self._waiting:
            try:
                read, entry = self._waiting.popleft()
            except IndexError:  # another thread was faster
                return
            if now - read < self._hold_s and not everything:
                self._waiting.appendleft((read, entry))
                return
            self._give_back(entry, now - read)

    def _give_back(self, entry: Entry, waited_s: float) -> None:
        """Release a job that was not begun, while it is surely still ours."""
        if waited_s < self._visible_s:
            self._outcomes.append((RELEASED, entry[0]))

    def take_outcomes(self) -> Outcomes:
        """What the server has not been told."""
        taken: dict[Outcome, list[Any]] = {}
        for _ in range(len(self._outcomes)):
            outcome, job_id = self._outcomes.popleft()
            taken.setdefault(outcome, []).append(job_id)
        return list(taken.items())

    def put_back(self, outcomes: Outcomes) -> None:
        """The server could not be told: keep that for the next time, when it is late."""
        for outcome, ids in outcomes:
            self._outcomes.extend((_late(outcome), job_id) for job_id in ids)


def _late(outcome: Outcome) -> Outcome:
    """*outcome* when its job may be another's. What is done is done, in any hands."""
    return outcome._replace(is_late=True) if outcome.mode else outcome
