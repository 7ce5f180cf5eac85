"""How much of a long test is worth its time: all of it by hand, half of it in CI.

In CI hypothesis draws the same examples each time, elsewhere others. Without the compiled modules
the server is several times slower, and the same Python source is tested: a fifth of the rounds
shows that both behave alike. So it is with the variants that look for faults, of which
PENSTOCK_VARIANT names the one that is tested.
"""

from __future__ import annotations

import os

COMPILED = not os.environ.get("PENSTOCK_UNCOMPILED")
SLOW = not COMPILED or bool(os.environ.get("PENSTOCK_VARIANT"))
PLAIN = os.environ.get("PENSTOCK_VARIANT") == "plain"  # Cython ignores @cython.no_gc in a .pxd


def rounds(count: int) -> int:
    """How many of *count* rounds, seeds or examples are tried: all, or a half, or a fifth."""
    if SLOW:
        return (count + 4) // 5
    return (count + 1) // 2 if os.environ.get("CI") else count
