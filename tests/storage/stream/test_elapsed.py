"""elapsed.since: the difference of two times in signed 64 bits."""

from __future__ import annotations

import ctypes

from hypothesis import given
from hypothesis import strategies as st

from storage.stream import elapsed

times = st.integers(-(2**63), 2**63 - 1)


@given(times, times)
def test_the_difference_wraps_around_as_in_c(then_ms: int, now_ms: int) -> None:
    assert elapsed.since(then_ms, now_ms) == ctypes.c_int64(now_ms - then_ms).value
