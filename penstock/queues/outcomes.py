"""How a job ends: what a worker's function may raise, and what the server is told of it."""

from __future__ import annotations

from contextlib import suppress
from traceback import format_exception_only

from penstock.queues.hand import FAILED, REJECTED, Outcome

MOST_DELAY_MS = 2**52  # half of what the server can count: the time comes on top of it
MOST_REASON = 1000  # bytes of an exception that a dead letter keeps


class Rejected(Exception):
    """Raised by a worker's function: the job is no good, and shall not be tried again."""


class Retry(Exception):
    """Raised by a worker's function: try again, but not before *delay_ms* ms have passed."""

    delay_ms = 0  # of a subclass that says nothing else

    def __init__(self, delay_ms: int, reason: str = "") -> None:
        super().__init__(reason or f"after {delay_ms} ms")
        self.delay_ms = min(max(0, int(delay_ms)), MOST_DELAY_MS)


class NotRunError(TypeError):
    """A worker's function has returned what is to be awaited, and nobody awaits that."""


def rejected(reason: str) -> Outcome:
    return Outcome(REJECTED, _reason(reason))


def failed(reason: str, delay_ms: int | None = None) -> Outcome:
    """None: it waits as long as the queue's back-off says."""
    delay = () if delay_ms is None else ("DELAY", min(max(0, int(delay_ms)), MOST_DELAY_MS))
    return Outcome(FAILED, (*delay, *_reason(reason)))


def _reason(text: str) -> tuple[str, bytes]:
    """What a dead letter says. It may have any characters."""
    cut = text.encode(errors="backslashreplace")[:MOST_REASON]
    return ("REASON", cut.decode(errors="ignore").encode())  # without half a character at the end


def reason_of(error: Exception) -> str:
    """What is told of *error*: of Rejected and Retry the text alone."""
    if isinstance(error, Rejected | Retry):
        with suppress(Exception):  # that of a subclass may fail
            return str(error)
    return "".join(format_exception_only(error)).strip()
