"""Retry: work that the server, or the way to it, broke off is begun again, for a while.

    refused and reset connections, no answer    the server restarts
    LOADING                                     it reads its data
    READONLY, MASTERDOWN, NOREPLICAS            the primary changes, or looks for its replicas
    BUSY, TRYAGAIN, CLUSTERDOWN                 a script runs, slots move

All of this passes by itself. What somebody has to see to is an error at once: a full memory (OOM)
or disk (MISCONF), a login, a command that is wrong.

Work is begun again whether it was done and only its answer was lost, or not at all. So it must be
such that this is right: reading is, and writing that looks at its marker first. At least once has
no marker, and its rows may come twice.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

from pyspark_penstock.connect.address import Server
from pyspark_penstock.errors import ServerError

T = TypeVar("T")
FIRST_PAUSE_S = 0.05
LONGEST_PAUSE_S = 2.0
TELL_AT = 5  # failures, which is after 0.75 s: a user who waits wants to know for what
PASSING = frozenset(
    {"LOADING", "READONLY", "MASTERDOWN", "NOREPLICAS", "BUSY", "TRYAGAIN", "CLUSTERDOWN"}
)
ABORTED = "EXECABORT Transaction discarded because of: "  # and then why

logger = logging.getLogger(__name__)


def passes(refused: str) -> bool:
    """Whether a server that *refused* in these words will not do so for long."""
    return refused.removeprefix(ABORTED).partition(" ")[0] in PASSING


def resumed(server: Server, doing: str, pages: Callable[[Retry], Iterator[T]]) -> Iterator[T]:
    """What *pages* yields; it is called again, to go on, where it was broken off.

    Raises ServerError when there was no success for too long.
    """
    retry = Retry(server, doing)
    while True:
        try:
            yield from pages(retry)
        except OSError as problem:
            retry.wait_after(problem)
        else:
            return


class Retry:
    """How long to go on *doing* something at *server*: so long after the first failure in a row.

    A failure may itself have taken longer than that to show; there is one more try in any case,
    unless the server's time for it is none.
    """

    now = staticmethod(time.monotonic)
    sleep = staticmethod(time.sleep)

    def __init__(self, server: Server, doing: str) -> None:
        self._server = server
        self._doing = doing
        self.renew()

    def renew(self) -> None:
        """Something worked."""
        self._failures = 0
        self._pause = FIRST_PAUSE_S

    def wait_after(self, problem: Exception) -> None:
        """Pause before the next try. Raises ServerError when it is too late for one."""
        now = self.now()
        if not self._failures:
            self._first = now
        self._failures += 1
        left = self._first + self._server.retry_s - now
        if left <= 0:
            raise ServerError(self._account(problem)) from problem
        if self._failures == TELL_AT:
            logger.warning("%s; it is tried for %.0f s more", self._account(problem), left)
        self.sleep(min(self._pause, left))
        self._pause = min(2 * self._pause, LONGEST_PAUSE_S)

    def _account(self, problem: Exception) -> str:
        """What was tried where, how often and how long, and what came of it in the end."""
        tried = f"{self._doing} at {self._server.places} failed"
        if self._failures == 1:
            return f"{tried}: {problem}"
        seconds = self.now() - self._first
        return f"{tried} {self._failures} times in {seconds:.0f} s, the last time with: {problem}"
