"""DEBUG CLOCK: time travel, for tests. See server/process/server_clock.py for what moves."""

from __future__ import annotations

import logging
import re
import time

from protocol.replies import ErrorReply, Reply
from server.dispatch.call import Call
from server.process.server_clock import OutOfRange, ServerClock
from server.table import errors
from server.table.command import Block, new_block
from storage import octets

MS_OF = {b"ms": 1, b"s": 1000, b"m": 60_000, b"h": 3_600_000, b"d": 86_400_000}
JUMP = re.compile(rb"([+-][0-9]{1,18})(ms|s|m|h|d)")

BAD_MOVE = ErrorReply(
    "ERR",
    "DEBUG CLOCK takes +<n><unit> or -<n><unit>, with ms, s, m, h or d as the unit, or"
    " AT <unix-time-ms>, FREEZE, THAW, or RESET",
)
OUT_OF_RANGE = ErrorReply("ERR", "DEBUG CLOCK cannot go before 1970, to 2100, or beyond")
NOT_INSIDE = ErrorReply("ERR", "DEBUG CLOCK cannot move the clock inside a transaction")


_log = logging.getLogger("penstock")


def clock(call: Call) -> Reply | Block:
    """Move the clock as ``argv[2:]`` says, if at all. Tells what time it is.

    The reply comes when all is done that is due by then; in a transaction, which moves nothing, at
    once.
    """
    if len(call.argv) > 2:
        _move(call)
    report = _report(call.server.clock)
    if call.executor.is_behind and not call.is_inside():
        return new_block([], object, 0, report, report, argv=call.argv[:2])
    return report


def _move(call: Call) -> None:
    if call.is_inside():
        raise NOT_INSIDE
    if call.server.restrictions.loading:
        raise errors.LOADING
    moved = call.server.clock
    words = [word.lower() for word in call.argv[2:]]
    try:
        _go(moved, words)
    except OutOfRange:
        raise OUT_OF_RANGE from None
    _log.warning(
        "DEBUG CLOCK %s: it is %s for clients now%s",
        b" ".join(words).decode(),  # nothing but what _go knows
        _text_of(moved.unix_ms()),
        ", and time stands still" if moved.is_frozen else "",
    )
    call.executor.clock_moved()
    call.client.last_used_ms = call.server.events.clock.now_ms


def _text_of(unix_ms: int) -> str:
    seconds, ms = divmod(unix_ms, 1000)
    return f"{time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(seconds))}.{ms:03} UTC"


def _go(moved: ServerClock, words: list[bytes]) -> None:
    """Raises ErrorReply and OutOfRange; then nothing has moved."""
    match words:
        case [b"at", when] if octets.is_int64(when):
            moved.travel_to(octets.int64_of(when))
        case [b"freeze"]:
            moved.freeze()
        case [b"thaw"]:
            moved.thaw()
        case [b"reset"]:
            moved.reset()
        case [word] if jump := JUMP.fullmatch(word):
            moved.travel(int(jump[1]) * MS_OF[jump[2]])
        case _:
            raise BAD_MOVE


def _report(moved: ServerClock) -> Reply:
    return {
        b"offset-ms": moved.offset_ms,
        b"frozen": int(moved.is_frozen),
        b"now-ms": moved.unix_ms(),
    }
