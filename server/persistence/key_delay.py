"""rdb-key-save-delay and key-load-delay: parameters that let tests catch a server at its work."""

from __future__ import annotations


def seconds(delay_us: int) -> float:
    """How long to wait after each key; *delay_us* -n is one microsecond after every n keys."""
    return delay_us / 1e6 if delay_us >= 0 else -1e-6 / delay_us
