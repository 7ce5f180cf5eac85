"""How much memory the process holds, as the kernel counts it."""

from __future__ import annotations

import os

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def resident_bytes() -> int:
    """Resident memory, in bytes (proc(5): the second field of statm)."""
    with open("/proc/self/statm", "rb") as statm:
        return int(statm.read().split()[1]) * PAGE_BYTES


def total_bytes() -> int:
    """Memory of the machine, in bytes."""
    return os.sysconf("SC_PHYS_PAGES") * PAGE_BYTES
