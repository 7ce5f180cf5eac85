"""Ports for the servers of tests, which nobody else gets meanwhile.

The system gives a port of its own range to whatever connects: one that was free a moment ago may be
the end of another test's connection now. So these are below that range, each given once. Tests that
run beside each other take theirs from blocks of their own: a block is claimed by a Unix socket of
its name, which the system frees when the process ends.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator

FIRST, BLOCKS, BLOCK = 10_000, 200, 100  # below Linux's 32768 to 60999, see ip(7)

_claims: list[socket.socket] = []


def free_port() -> int:
    """A port of this machine that is free, and was not given before. Raises AssertionError."""
    for port in _given:
        if _is_free(port):
            return port
    raise AssertionError("no port is left for tests")


def _ports() -> Iterator[int]:
    """The ports of one claimed block after the other, each once."""
    for number in range(BLOCKS):
        block = (os.getpid() + number) % BLOCKS
        if _claim(block):
            yield from range(FIRST + block * BLOCK, FIRST + (block + 1) * BLOCK)


def _claim(block: int) -> bool:
    claim = socket.socket(socket.AF_UNIX)
    try:
        claim.bind(f"\0penstock-test-ports-{block}")
    except OSError:
        claim.close()
        return False
    _claims.append(claim)
    return True


def _is_free(port: int) -> bool:
    """Whether a server can listen at *port*, even one without SO_REUSEADDR."""
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


_given = _ports()
