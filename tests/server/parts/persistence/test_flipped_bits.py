"""No file with a flipped bit is loaded with other data: ``make flips`` tries ten thousand."""

from __future__ import annotations

import pytest

from tests.server.parts.persistence.flipped_bits import KINDS, PLACES, flip_many
from tests.worth import rounds


@pytest.mark.parametrize("kind", KINDS)
def test_a_flipped_bit_is_refused_or_changes_no_data(kind: str) -> None:
    seen = flip_many(rounds(60), seed=35, kinds=[kind])
    places = ["anywhere"] if kind == "snapshot" else PLACES
    for place in places:
        assert any(what.startswith(f"{kind}, {place}: refused") for what in seen), seen
    ranged = sum(count for what, count in seen.items() if what.endswith("with its range"))
    assert ranged >= rounds(60) // 4, seen
