"""The report of a crash: plain versions of the C functions in crash_calls.pxd.

Without the compiled core the report is faulthandler's alone: the signal, and Python's stack.
"""

from __future__ import annotations

import os
from collections.abc import Callable


def install(
    path: bytes, head: bytes, end_line: bytes, python_fd: int, write_commands: Callable[[int], None]
) -> None:
    """From now on write a report when a fatal signal comes; then the process ends by that signal.

    It goes to the end of the file *path*, or to the standard error if that is b"" or cannot be
    opened. It begins with *head*, and ends with *end_line*. *write_commands* writes a part of it;
    it must not allocate memory. faulthandler writes to *python_fd*, which is made the same file.
    """


def remove() -> None:
    """Write none any more."""


def put(fd: int, text: str) -> None:
    """Write *text*, ASCII, to *fd*, unless that takes nothing."""
    os.write(fd, text.encode())


def put_number(fd: int, number: int) -> None:
    """Write *number*, which is not negative."""
    os.write(fd, b"%d" % number)
