"""Memory that goes back to the system: plain versions of the C functions in page_calls.pxd.

Here nothing goes back, since Python has no names for these calls.
"""

from __future__ import annotations


def give_back(start: int, size: int) -> None:
    """Give back *size* bytes of pages from the address *start* on, which are as in their file."""


def keep_freed(most: int, largest: int) -> None:
    """Let the heap keep *most* bytes that are freed at its end, and have blocks up to *largest*.

    What the heap has can be obtained again without new pages.
    """


def trim_heap() -> None:
    """Give back what is free at the ends of the heap."""
