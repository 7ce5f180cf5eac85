"""How much memory is in use, by our own count, and how much the process holds, by the kernel's.

    used       data (storage/allocation.py) + clients + readers + scripts + log
                                                                   INFO's used_memory
    compared   data + clients + readers + scripts                  with maxmemory, as redis does
               clients                                             with maxmemory-clients
    resident   all of that, the interpreter with the program's code, spare pages

The AOF's buffer is not compared: it is what a write leaves for the disk, and to refuse writes until
it is written would make the disk's pace the limit. The interpreter's share (some 40 MB) does not
depend on what is stored; so a server without data uses next to nothing, like redis.
"""

from __future__ import annotations

import os

from server.client.client import Client
from server.config.parameters import Config
from server.observe.part import Part
from storage import allocation

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
STATM_BYTES = 200  # more than seven numbers, see proc(5)
NO_LIMIT = 0
MOST = 2**63 - 1


class Memory(Part):
    """The bytes in use, and maxmemory. Made before the databases, which it sees *started*."""

    __slots__ = (
        "_noted_peak",
        "clients",
        "clients_limit",
        "limit",
        "log",
        "peak",
        "peak_s",
        "readers",
        "scripts",
        "startup",
    )

    def __init__(self) -> None:
        self.limit = NO_LIMIT  # maxmemory
        self.clients_limit = MOST  # maxmemory-clients, in bytes
        self.clients = 0  # what clients have sent and not taken; each connection keeps its share
        self.log = 0  # what the append-only file has still to write, when it was last looked at
        # What is kept for those who read by patterns, when it was last counted: it has no client.
        self.readers = 0
        self.scripts = 0  # what Lua and the texts of scripts hold, when it was last counted
        self.peak = 0  # the most that has been seen in use
        self.peak_s = 0  # unix time when that was seen
        self._noted_peak = 0
        self.startup = allocation.used_bytes()

    def started(self) -> None:
        """The databases are there, and empty."""
        self.startup = allocation.used_bytes() - self.startup

    def configured(self, config: Config) -> None:
        self.limit = min(config.maxmemory, MOST)
        limit = config.maxmemory_clients
        if limit < 0:  # a percentage of maxmemory
            limit = config.maxmemory * -limit // 100
        self.clients_limit = min(limit or MOST, MOST)

    def hold(self, client: Client, size: int) -> None:
        """Count *size* bytes more of what *client* watches or is subscribed to."""
        client.held += size
        self.clients += size

    def used(self) -> int:
        """Bytes in use."""
        used = allocation.used + self.clients + self.readers + self.scripts + self.log
        self.peak = max(self.peak, used)
        return used

    def note_peak(self, now_s: int) -> None:
        """Look at what is in use, at the unix time *now_s*: it may be the most so far."""
        self.used()
        if self.peak > self._noted_peak:
            self._noted_peak = self.peak
            self.peak_s = now_s

    def exceeded(self) -> bool:
        """Whether more is in use than maxmemory allows: what adds data is refused then."""
        return 0 < self.limit < self.used() - self.log


def resident_bytes() -> int:
    """Resident memory in bytes; 0 if no file can be opened."""
    return resident_and_file_bytes()[0]


def resident_and_file_bytes() -> tuple[int, int]:
    """Resident memory, and the part of it that is pages of files: the program's code.

    Zeros if no file can be opened.
    """
    try:
        statm = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return 0, 0
    try:
        fields = os.read(statm, STATM_BYTES).split()
    finally:
        os.close(statm)
    return int(fields[1]) * PAGE_BYTES, int(fields[2]) * PAGE_BYTES


def total_bytes() -> int:
    """Memory of the machine, in bytes."""
    return os.sysconf("SC_PHYS_PAGES") * PAGE_BYTES


def human(size: int) -> str:
    """*size* bytes in the greatest unit that it has one of: 1.50M."""
    if size < 1024:
        return f"{size}B"
    power = min((size.bit_length() - 1) // 10, len("KMGTP"))
    return f"{size / 1024**power:.2f}{'KMGTP'[power - 1]}"
