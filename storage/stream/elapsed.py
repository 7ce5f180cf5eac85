"""Elapsed time as redis computes it: in 64 bits, with wrap-around.

A client or a file may give any 64-bit number as a time. If the difference does not fit into 64
bits, the time seems to lie in the future.
"""

from __future__ import annotations

_HALF = 2**63


def since(then_ms: int, now_ms: int) -> int:
    """The ms from *then_ms* to *now_ms*, both of 64 bits, as a number of 64 bits."""
    return (now_ms - then_ms + _HALF) % (2 * _HALF) - _HALF
