"""What is being done just now, on stderr: so that whoever waits sees that something happens.

On a terminal the line is written over by the next; elsewhere each stays, with the seconds so far.
"""

from __future__ import annotations

import sys
import time

_began = time.monotonic()


def say(text: str) -> None:
    """Say that *text* begins."""
    line = f"[{time.monotonic() - _began:5.0f} s] {text} ..."
    if sys.stderr.isatty():
        print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)
    else:
        print(line, file=sys.stderr, flush=True)


def clear() -> None:
    """Make room on the terminal for a line of the tables."""
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
