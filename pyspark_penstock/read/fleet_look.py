"""Looking at all servers of a fleet at the same time: a slow or absent one holds up no other."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from typing import Any, TypeVar

from pyspark_penstock.errors import ServerError

T = TypeVar("T")
GRACE_S = 1.0  # longer than the others have taken, for a slow server
LONGEST_GRACE_S = 30.0  # for one that has answered late
FIRST_REST_S, LONGEST_REST_S = 1.0, 30.0  # before a server is asked again that was away

logger = logging.getLogger(__name__)


class FleetLook:
    """Asks servers by name, each in a thread of its own.

    With *fails*, an error of one is raised. Otherwise servers that are away are left out: each is
    warned of once, and asked again after a rest. One that is slow is left out until it answers.
    From then on all wait for it twice as long as it took: the same work would be late again each
    time, since a late answer is of no use.
    """

    def __init__(self, *, fails: bool, now: Callable[[], float] = time.monotonic) -> None:
        self._fails = fails
        self._now = now
        self._pool: ThreadPoolExecutor | None = None
        self._slow: dict[str, Future[Any]] = {}
        self._graces: dict[str, float] = {}  # of servers that have answered late
        self._rests: dict[str, tuple[float, float]] = {}  # until when, and how long the next is

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_pool": None, "_slow": {}}

    def close(self) -> None:
        """End the threads; what still waits for a server is left to itself."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None

    def ask(
        self, questions: Mapping[str, Callable[[], T]], *, patiently: bool = False
    ) -> dict[str, T]:
        """The answers of the servers that have answered; *patiently*, slow ones, too."""
        if len(questions) == 1 and self._fails:
            return {name: question() for name, question in questions.items()}
        pending = {
            name: self._submit(len(questions), partial(self._timed, name, question))
            for name, question in questions.items()
            if self._may_ask(name)
        }
        self._wait(pending, patiently or self._fails)
        answers: dict[str, T] = {}
        for name, future in pending.items():
            if not future.done():
                self._leave_out(name, "it is slow")
                self._slow[name] = future
                continue
            try:
                answers[name] = future.result()
            except (OSError, ServerError) as problem:
                if self._fails:
                    raise
                self._leave_out(name, str(problem))
            else:
                if self._rests.pop(name, None):
                    logger.warning("server %s is there again", name)
        return answers

    def _submit(self, servers: int, question: Callable[[], T]) -> Future[T]:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(servers, "penstock-look")
        return self._pool.submit(question)

    def _timed(self, name: str, question: Callable[[], T]) -> T:
        """The answer of a server; if it takes long, the next one may take longer."""
        began = self._now()
        answer = question()
        took = self._now() - began
        if took > GRACE_S:
            self._graces[name] = min(2 * took, LONGEST_GRACE_S)
        return answer

    def _may_ask(self, name: str) -> bool:
        slow = self._slow.get(name)
        if slow is not None:
            if not slow.done():
                return False
            del self._slow[name]
        return self._rests.get(name, (0.0, 0.0))[0] <= self._now()

    def _wait(self, pending: Mapping[str, Future[Any]], for_all: bool) -> None:
        """Wait for all; where none is to be waited for, a little longer than for the others."""
        if for_all:
            wait(pending.values())
            return
        began = self._now()
        names = {future: name for name, future in pending.items()}
        left = set(names)
        while left:
            took = self._now() - began
            longest = max(self._graces.get(names[future], GRACE_S) for future in left)
            done, left = wait(
                left, timeout=max(GRACE_S + took, longest - took), return_when="FIRST_COMPLETED"
            )
            if not done:
                return

    def _leave_out(self, name: str, why: str) -> None:
        known = self._rests.get(name)
        if known is None:
            logger.warning("server %s is left out until it can be reached: %s", name, why)
        rest = FIRST_REST_S if known is None else known[1]
        self._rests[name] = self._now() + rest, min(2 * rest, LONGEST_REST_S)
