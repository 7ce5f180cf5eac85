"""How tests wait for what another process does: they ask for a fact again and again."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import TypeVar

from redis.exceptions import RedisError

WITHIN_S = 60.0  # until something has happened that will
PERIOD_S = 0.01  # between two questions

T = TypeVar("T")


def until(fact: Callable[[], T | None], what: str) -> T:
    """What *fact* returns, once that is true. Raises AssertionError when that takes too long.

    A server that does not answer yet, so that *fact* raises OSError or RedisError, is asked again.
    """
    deadline = time.monotonic() + WITHIN_S
    while time.monotonic() < deadline:
        with contextlib.suppress(RedisError, OSError):
            found = fact()
            if found:
                return found
        time.sleep(PERIOD_S)
    raise AssertionError(f"never came: {what}")
