"""Gives back the pages of program files that only the start has touched; keeps those of the heap.

The start runs through most of the code there is, once, and each page of a file that it has touched
stays in the process's memory: more than half of what an idle server holds. These pages are as they
are in the files, and the system has them in its cache of files anyway; a page that is used again
comes back from there, in about a microsecond.

Pages that the process has changed are its own, and stay: a mapping that has one is left alone.
Uncompiled, and on systems without /proc, nothing is given back.

A page of the heap costs more: the system has to clear it before it is used again. Left to itself,
the C library gives back each long value or reply when it is freed, and that took most of the time
of a reply of some megabytes. So it keeps some megabytes for the next one.

Source: proc_pid_smaps(5), madvise(2), mallopt(3)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from server.process import page_calls

KEPT = 32 * 1024 * 1024  # bytes at the end of the heap that are free, and stay
LARGEST = 4 * 1024 * 1024  # bytes; a longer block has a mapping of its own, which can be moved

MAPPINGS = Path("/proc/self/smaps")

# 7f0c10000-7f0c2f000 r-xp 00001000 fe:01 4711    /usr/lib/libz.so
# and lines such as Anonymous: 0 kB
_MAPPING = re.compile(
    r"^([0-9a-f]+)-([0-9a-f]+) r-[x-]p [0-9a-f]+ \S+ (?!0 )\d+ +/.*\n"
    r"(?:[A-Z]\w+: .*\n)*?Anonymous: +0 kB$",
    re.MULTILINE,
)


def give_back() -> None:
    """Give back all pages of files that are unchanged. O(mappings), some milliseconds."""
    try:
        mappings = MAPPINGS.read_text("utf-8", "surrogateescape")
    except OSError:
        return
    for start, end in unchanged(mappings):
        page_calls.give_back(start, end - start)
    page_calls.trim_heap()


def keep_heap() -> None:
    """Let the heap keep what is freed, up to KEPT bytes."""
    page_calls.keep_freed(KEPT, LARGEST)


def trim_heap() -> None:
    """Give back what the heap keeps; it will keep again what is freed."""
    page_calls.trim_heap()


def unchanged(mappings: str) -> Iterator[tuple[int, int]]:
    """The addresses, from and to, of those *mappings* that are as they are in their files."""
    for found in _MAPPING.finditer(mappings):
        yield int(found[1], 16), int(found[2], 16)
