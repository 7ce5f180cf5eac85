"""Progress messages on standard error: they show what is running at the moment.

    [ 3 of 31,  0:42] Penstock: tuples, round 1 of 5        Progress: a known number of steps
    [   12 s] Valkey 9.1.2: XADD, depth 16 ...              say: the rows of a table

Results go to standard output.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import Self

STILL_S = 15.0

_began = time.monotonic()


class Progress:
    """The progress of *steps* steps. As a context manager it also reports during long steps."""

    def __init__(
        self,
        steps: int,
        say: Callable[[str], object] = lambda line: print(line, file=sys.stderr, flush=True),
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._steps = steps
        self._say = say
        self._now = now
        self._began = self._step_began = now()
        self._step = 0
        self._what = ""
        self._ended = threading.Event()

    def __enter__(self) -> Self:
        threading.Thread(target=self._speak_up, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()

    def step(self, what: str) -> None:
        """Report that the next step begins."""
        self._step += 1
        self._what = what
        self._step_began = self._now()
        self._say(self._line(self._step_began))

    def still(self) -> None:
        """Report the step again if it has been running for long."""
        now = self._now()
        if self._step and now - self._step_began >= STILL_S:
            self._say(f"{self._line(now)}, for {now - self._step_began:.0f} s")

    def _line(self, now: float) -> str:
        minutes, seconds = divmod(int(now - self._began), 60)
        width = len(str(self._steps))
        return f"[{self._step:{width}} of {self._steps}, {minutes:2}:{seconds:02}] {self._what}"

    def _speak_up(self) -> None:
        while not self._ended.wait(STILL_S):
            self.still()


def say(text: str) -> None:
    """Report that *text* begins; on a terminal, the next line overwrites this one."""
    line = f"[{time.monotonic() - _began:5.0f} s] {text} ..."
    if sys.stderr.isatty():
        print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)
    else:
        print(line, file=sys.stderr, flush=True)


def clear() -> None:
    """Remove the line of say from the terminal, before a line of a table is printed."""
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
