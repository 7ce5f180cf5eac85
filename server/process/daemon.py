"""Daemonizing: the parent waits for the child, and its exit status tells how the start went.

    parent   fork ---- waits ----------------------- "ready": exit 0      no word: exit 1
    child         without a terminal; starts up ---- writes it            or ends before

Redis's parent ends with 0 at once, whatever becomes of its child.
"""

from __future__ import annotations

import contextlib
import os
import signal
from typing import NoReturn

from server.process.log import print_error

READY = b"ready"

STDIN, STDOUT, STDERR = 0, 1, 2


class Background:
    """The child's side. Until ready(), it writes to the parent's standard error."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe

    def ready(self) -> None:
        """Let the parent end, and close its standard error. May be called again."""
        if self._pipe < 0:
            return
        _redirect_to_null(STDERR)
        with contextlib.suppress(BrokenPipeError):  # the parent may have been ended
            os.write(self._pipe, READY)
        os.close(self._pipe)
        self._pipe = -1


def daemonize() -> Background:
    """Continue in a child without a terminal; the parent ends when the child is ready or has ended.

    Raises OSError when the system has no room for another process.
    """
    reading, writing = os.pipe()
    if pid := os.fork():
        os.close(writing)
        _wait_for_child(pid, reading)
    os.close(reading)
    os.setsid()
    _redirect_to_null(STDIN, STDOUT)
    return Background(writing)


def _wait_for_child(pid: int, pipe: int) -> NoReturn:
    """The parent's side."""
    status = 1
    try:
        if os.read(pipe, len(READY)) == READY:
            status = 0
        else:
            code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
            if code < 0:
                print_error(f"the server was ended by signal {-code}")
    except KeyboardInterrupt:
        os.kill(pid, signal.SIGTERM)
    finally:
        os._exit(status)  # what is to happen at the end is the child's


def _redirect_to_null(*streams: int) -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in streams:
        os.dup2(nowhere, stream)
    os.close(nowhere)
