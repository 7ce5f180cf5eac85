"""A line on the terminal that says how far something is, for the person who waits there.

    Loading  [##########----------]  52%  1.2 of 2.3 GB  12 s left

It is drawn on the standard error if that is a terminal, and nowhere else; not before the work has
taken SOON_S, a few times a second at most, and as wide as the terminal is then. At the end it is
wiped off, as it is before a line of the server log (erase). A terminal that takes nothing, since
somebody holds it, is not waited for: the server goes on.

These few lines rather than a package: the server would load one at each start, to be used once.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType

STDERR = 2
SOON_S, EVERY_S = 0.5, 0.1
LONGEST_BAR = 40
WIPE = b"\r\x1b[K"
_SIZES = ((1 << 40, "TB"), (1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB"))


class ProgressBar:
    """Of so many *total* bytes, or other *units*, some are done."""

    def __init__(
        self,
        what: str,
        total: int,
        units: str = "bytes",
        fd: int = STDERR,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._what, self._total, self._units = what, total, units
        self._fd = fd
        self._own = -1  # the terminal, opened by us when there is something to draw
        self._monotonic_s = monotonic_s
        self._began_s = monotonic_s()
        self._next_s = self._began_s + SOON_S if _is_terminal(fd) else float("inf")

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()

    @property
    def is_shown(self) -> bool:
        """Whether it stands on the terminal."""
        return _on_screen.bar is self

    def show(self, done: int) -> None:
        """*done* of the total is done. Cheap if it is not yet time to draw."""
        now_s = self._monotonic_s()
        if now_s < self._next_s:
            return
        self._next_s = now_s + EVERY_S
        try:
            if self._own < 0:
                self._own = _opened(self._fd)
            columns = os.get_terminal_size(self._own).columns
            said = line(self._what, done, self._total, self._units, now_s - self._began_s, columns)
            _write(self._own, WIPE + said.encode())
        except OSError:  # the terminal has gone
            self.end()
            return
        _on_screen.bar = self

    def wipe(self) -> None:
        """Take it off the terminal, until it is drawn again."""
        if self.is_shown:
            _on_screen.bar = None
            with suppress(OSError):
                _write(self._own, WIPE)

    def end(self) -> None:
        """The work is done, or was given up."""
        self.wipe()
        self._next_s = float("inf")
        if self._own >= 0:
            os.close(self._own)
            self._own = -1


class _OnScreen:
    """The bar that the terminal shows now."""

    bar: ProgressBar | None = None


_on_screen = _OnScreen()


def erase() -> None:
    """Wipe off whichever bar is shown, so that a line can be written. The next look draws it."""
    if _on_screen.bar is not None:
        _on_screen.bar.wipe()


def line(what: str, done: int, total: int, units: str, elapsed_s: float, columns: int) -> str:
    """What the bar says in *columns*: the bar takes what the words leave, or is left out."""
    share = min(1.0, done / total) if total > 0 else 1.0
    words = f"{share:4.0%}  {_amount(done, total, units)}"
    if 0 < share < 1 and elapsed_s > 0:
        words += f"  {_left(elapsed_s * (1 - share) / share)} left"
    room = min(LONGEST_BAR, columns - 1 - len(what) - len(words) - 6)
    bar = ""
    if room >= 4:
        full = round(share * room)
        bar = f"[{'#' * full}{'-' * (room - full)}]  "
    return f"{what}  {bar}{words}"[: max(0, columns - 1)]


def _amount(done: int, total: int, units: str) -> str:
    if units != "bytes":
        return f"{done:,} of {total:,} {units}"
    size, unit = next((each for each in _SIZES if total >= each[0]), (1, "bytes"))
    digits = 1 if size > 1 else 0
    return f"{done / size:.{digits}f} of {total / size:.{digits}f} {unit}"


def _left(seconds: float) -> str:
    whole = int(seconds) + 1
    if whole < 120:
        return f"{whole} s"
    return f"{whole // 60} min" if whole < 7200 else f"{whole // 3600} h"


def _is_terminal(fd: int) -> bool:
    return os.isatty(fd) and os.environ.get("TERM", "") not in ("", "dumb")


def _opened(fd: int) -> int:
    """Another descriptor of that terminal, whose writes do not wait; those of others are as before.

    Raises OSError.
    """
    return os.open(os.ttyname(fd), os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)


def _write(fd: int, octets: bytes) -> None:
    """Write what the terminal takes at once. Raises OSError."""
    with suppress(BlockingIOError):
        os.write(fd, octets)
