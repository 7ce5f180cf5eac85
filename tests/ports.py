"""Ports for the servers of tests, which nobody else gets meanwhile.

The system gives a port of its own range to whatever connects: one that was free a moment ago may be
the end of another test's connection now. So these are below that range, each given once.
"""

from __future__ import annotations

import os
import socket
from itertools import count

FIRST, COUNT = 10_000, 20_000  # below Linux's 32768 to 60999, see ip(7)
STEP = 7919  # a prime: processes that begin beside each other do not follow each other

_given = count(os.getpid() * STEP)


def free_port() -> int:
    """A port of this machine that is free, and was not given by this process before."""
    for number in _given:
        port = FIRST + number % COUNT
        if _is_free(port):
            return port
    raise AssertionError("the numbers never end")


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
