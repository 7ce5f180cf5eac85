"""Sizes in the form that INFO shows to people."""

import pytest

from server.observe.memory import human


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0B"), (1023, "1023B"), (1024, "1.00K"), (1536 * 1024, "1.50M"),
     (25276510208, "23.54G"), (2**70, "1048576.00P")],
)  # fmt: skip
def test_sizes_are_shown_as_redis_shows_them(size, text):
    assert human(size) == text
