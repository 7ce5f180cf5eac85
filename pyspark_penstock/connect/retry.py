"""Retries: work that fails because the server is away, or not ready, is tried again for a while.

    refused and reset connections, no reply     the server restarts
    LOADING                                     it loads its data
    READONLY, MASTERDOWN, NOREPLICAS            a failover, or replicas that are missing
    BUSY, TRYAGAIN, CLUSTERDOWN                 a slow script, slots that move

All of these end without help. Errors that need an operator fail at once: memory (OOM), disk
(MISCONF), a login that is refused, a wrong command.

When a reply is lost nobody knows whether the command was executed. So only work that may be done
twice can be retried: reads, and writes that check their marker first. At-least-once delivery has no
marker, so a retry may write its rows twice.
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
TELL_AT = 5  # failures, which is after 0.75 s
PASSING = frozenset(
    {"LOADING", "READONLY", "MASTERDOWN", "NOREPLICAS", "BUSY", "TRYAGAIN", "CLUSTERDOWN"}
)
ABORTED = "EXECABORT Transaction discarded because of: "  # the reason follows

logger = logging.getLogger(__name__)


def passes(refused: str) -> bool:
    """Whether the error text *refused* is of an error that ends without help."""
    return refused.removeprefix(ABORTED).partition(" ")[0] in PASSING


def resumed(server: Server, doing: str, pages: Callable[[Retry], Iterator[T]]) -> Iterator[T]:
    """Yield from *pages*; when it fails, call it again, to continue where it was.

    Raises ServerError if nothing has worked for ``retry_s``.
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
    """Decides how long to try: ``retry_s`` after the first failure in a row. *doing* is for errors.

    One failure may itself take longer than ``retry_s`` to show. So there is always a second try,
    unless ``retry_s`` is 0.
    """

    now = staticmethod(time.monotonic)
    sleep = staticmethod(time.sleep)

    def __init__(self, server: Server, doing: str) -> None:
        self._server = server
        self._doing = doing
        self.renew()

    def renew(self) -> None:
        """To be called after a success: the next failure is the first in a row again."""
        self._failures = 0
        self._pause = FIRST_PAUSE_S

    def wait_after(self, problem: Exception) -> None:
        """Sleep before the next try. Raises ServerError if the time is over."""
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
        """The error text: what was tried, where, how often, for how long, and the last error."""
        tried = f"{self._doing} at {self._server.places} failed"
        if self._failures == 1:
            return f"{tried}: {problem}"
        seconds = self.now() - self._first
        return f"{tried} {self._failures} times in {seconds:.0f} s, the last time with: {problem}"
