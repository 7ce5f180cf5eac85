"""How much of a long test is worth its time: all of it once, with the compiled modules.

Without them the server is several times slower, and the same Python source is tested: a third of
the rounds shows that both behave alike.
"""

from __future__ import annotations

import os

COMPILED = not os.environ.get("PENSTOCK_UNCOMPILED")


def rounds(count: int) -> int:
    """How many of *count* rounds, seeds or examples are tried: all, or a third if uncompiled."""
    return count if COMPILED else (count + 2) // 3
