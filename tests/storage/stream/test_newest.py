"""The index of COMPACT: long values, and what has gone since it was seen."""

from __future__ import annotations

import pytest

from storage.stream.newest import Newest
from storage.stream.stream import Stream
from storage.stream.stream_id import MAX, StreamId


@pytest.mark.parametrize("size", [1, 15, 16, 20_000])
def test_values_of_any_length_are_told_apart(size: int) -> None:
    """Long ones are compared before so many wait that they take memory."""
    stream, newest = Stream(), Newest(b"k")
    for ms in range(1, 13):
        value = b"%d" % (ms % 2)
        stream.append(StreamId(ms, 0), [b"k", value.rjust(size, b".")], 0)
    stream.delete(StreamId(3, 0))
    found = newest.replaced(stream, 100, MAX)
    assert sorted(entry_id.ms for entry_id in found) == [1, 2, 4, 5, 6, 7, 8, 9, 10]
    assert newest.values() == 2
    assert newest.replaced(stream, 100, MAX) == []
