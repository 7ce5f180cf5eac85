"""The memory that a test begins with: what earlier tests have left is freed before it is read."""

from __future__ import annotations

import gc

from storage import allocation


def used_at_start() -> int:
    """allocation.used_bytes(), after a collection of garbage.

    Else the collector frees what an earlier test has left when it likes, during the test too.
    """
    gc.collect()
    return allocation.used_bytes()
