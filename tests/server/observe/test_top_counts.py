"""The bounded sketch of the greatest counts."""

from __future__ import annotations

from random import Random

from server.observe.top_counts import KEPT, TopCounts


def test_few_keys_have_their_very_counts() -> None:
    counts = TopCounts()
    for number in range(100):
        counts.add(b"%d" % (number % 10), number)
    assert counts.greatest(2) == [(b"9", 540.0), (b"8", 530.0)]
    assert counts.total() == sum(range(100))


def test_the_great_ones_are_found_among_very_many_and_none_has_too_little() -> None:
    """And it does not grow."""
    random = Random(1)
    counts = TopCounts()
    great = [b"great:%d" % number for number in range(10)]
    true = dict.fromkeys(great, 0)
    for number in range(200_000):
        if random.random() < 0.2:
            key = random.choice(great)
            true[key] += 1
        else:
            key = b"small:%d" % number
        counts.add(key, 1)
    found = dict(counts.greatest(10))
    assert set(found) == set(great)
    assert all(true[key] <= found[key] <= true[key] + 200_000 / KEPT for key in great)
    assert len(counts.greatest(10**6)) <= 2 * KEPT
