"""storage/stream/places.py: numbers that a node's offsets may be."""

from __future__ import annotations

import pytest

from storage.stream.places import Places


def test_it_has_what_was_added_and_no_more_than_it_has_room_for() -> None:
    numbers = [0, 1, 4095, 2**32 - 1]
    places = Places(len(numbers))
    for number in numbers:
        places.add(number)
    assert [places.at(index) for index in range(places.count)] == numbers
    with pytest.raises(IndexError, match="more entries than the node counts"):
        places.add(7)
    assert places.count == len(numbers)
