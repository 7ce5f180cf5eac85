"""The system's monotonic clock, which DEBUG CLOCK does not move."""

from __future__ import annotations

import time


def monotonic_ms() -> int:
    """Milliseconds since some moment; the clock never goes back."""
    return time.monotonic_ns() // 1_000_000
