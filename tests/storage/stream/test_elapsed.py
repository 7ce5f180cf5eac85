"""Differences of times, in 64 bits."""

from __future__ import annotations

import ctypes

from hypothesis import given
from hypothesis import strategies as st

from storage.stream import elapsed

times = st.integers(-(2**63), 2**63 - 1)


@given(times, times)
def test_wraps_around_as_c_does(then_ms: int, now_ms: int) -> None:
    assert elapsed.since(then_ms, now_ms) == ctypes.c_int64(now_ms - then_ms).value
