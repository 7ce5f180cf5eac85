"""Exceptions that nobody expected: whose fault each is, and what follows.

    a command's      out of its handler, which had changed nothing   its client gets an error
    a connection's   out of reading, answering or sending            its client is disconnected
    the server's     ServerFault, and whatever reaches the loop      server.app ends the process

It is the server's fault when what it holds and what its log says may differ from then on: a handler
stopped halfway through its changes, or the AOF, the end of a turn or cron has failed. To continue
would be to build on that, or to hang. The process ends with status 1, and the next one starts from
what is on the disk.
"""

from __future__ import annotations

import logging
import time

REPORT_EVERY_S = 30.0  # the same fault is not logged more often: it may come with each request

_log = logging.getLogger("penstock")
_reported_s: dict[tuple[str, type], float] = {}


class ServerFault(BaseException):
    """The server cannot continue. No Exception, so that no handler on the way out catches it."""


def report(where: str, error: Exception) -> None:
    """Log *error*, with its traceback unless memory was short. Never raises."""
    try:
        now_s = time.monotonic()
        kind = (where, type(error))
        if now_s - _reported_s.get(kind, -REPORT_EVERY_S) < REPORT_EVERY_S:
            return
        _reported_s[kind] = now_s
        if isinstance(error, MemoryError):
            _log.warning("%s: there is no memory to be had", where)
        else:
            _log.error("bug in %s", where, exc_info=error)
    except MemoryError:
        pass  # a client that is disconnected, or gets an error, learns of it anyway
