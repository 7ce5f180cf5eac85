"""DEBUG SEGFAULT, PANIC and ASSERT: the server crashes, so that its report can be looked at."""

from __future__ import annotations

import logging
import os
import signal
import time

from protocol.replies import Reply
from server.dispatch.call import Call

_log = logging.getLogger("penstock")


def segfault(_call: Call) -> Reply:
    """End by SIGSEGV."""
    signal.raise_signal(signal.SIGSEGV)
    return None


def panic(call: Call) -> Reply:
    """Say what Redis says, and end by SIGABRT; with use-exit-on-panic by status 1."""
    _log.warning("------------------------------------------------")
    _log.warning("!!! Software Failure. Press left mouse button to continue")
    _log.warning("Guru Meditation: DEBUG PANIC called at Unix time %d", int(time.time()))
    _log.warning("------------------------------------------------")
    return _end(call)


def failed_assertion(call: Call) -> Reply:
    """Stop as if a condition that the server relies on had turned out to be false."""
    _log.warning("=== ASSERTION FAILED ===")
    _log.warning("==> DEBUG ASSERT '1 == 2' is not true")
    return _end(call)


def _end(call: Call) -> Reply:
    if call.server.config.use_exit_on_panic:
        os._exit(1)
    os.abort()
