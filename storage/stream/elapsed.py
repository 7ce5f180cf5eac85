"""How long ago something was, as redis reckons: in 64 bits, beyond which it wraps around.

Times that a client or a file says may be any 64-bit number. What is too long ago to be said so
seems to lie in the future.
"""

from __future__ import annotations

_HALF = 2**63


def since(then_ms: int, now_ms: int) -> int:
    """The ms from *then_ms* to *now_ms*, both of 64 bits, as a number of 64 bits."""
    return (now_ms - then_ms + _HALF) % (2 * _HALF) - _HALF
