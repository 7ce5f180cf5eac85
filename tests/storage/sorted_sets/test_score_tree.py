"""The tree of a large sorted set: how full its leaves are, long members, equal hash prefixes."""

from __future__ import annotations

import pytest

from storage import allocation
from storage.errors import TooLarge
from storage.hash_table import mark_octets
from storage.sorted_sets.bound import Bound
from storage.sorted_sets.leaf import LONGEST_MEMBER
from storage.sorted_sets.score_tree import ScoreTree
from tests.used_memory import used_at_start
from tests.worth import rounds

COUNT = 20_000


def tree_of(pairs: list[tuple[bytes, float]]) -> ScoreTree:
    made = ScoreTree()
    for member, score in pairs:
        made.add(member, score)
    return made


def leaves_of(tree: ScoreTree) -> int:
    return sum(leaf is not None for leaf in tree.leaves)


@pytest.mark.parametrize("step", [1, -1])
def test_members_that_come_in_order_fill_their_leaves(step: int) -> None:
    tree = tree_of([(b"%d" % n, n * step) for n in range(COUNT)])
    tree.check()
    assert leaves_of(tree) <= COUNT // 64 + 1 if step < 0 else COUNT // 120


def test_a_member_takes_little_beside_its_text() -> None:
    """The bytes are those of the compiled objects; uncompiled buffers are about as large."""
    start = used_at_start()
    tree = tree_of([(b"member:%09d" % n, n * 7919 % COUNT) for n in range(COUNT)])
    assert (allocation.used_bytes() - start) / COUNT < 16 + 40
    del tree
    assert allocation.used_bytes() == start


def test_a_tree_that_shrinks_gives_its_leaves_back() -> None:
    tree = tree_of([(b"%d" % n, n) for n in range(COUNT)])
    full = leaves_of(tree)
    for _ in range(COUNT - COUNT // 10):
        tree.remove_at(tree.length() // 3)
    tree.check()
    assert leaves_of(tree) < full // 3
    for _ in range(COUNT // 10):
        tree.remove_at(tree.length() - 1)
    tree.check()
    assert (leaves_of(tree), len(tree), list(tree)) == (1, 0, [])


def test_a_member_too_long_for_a_leaf_is_refused_and_nothing_changes() -> None:
    tree = tree_of([(b"a", 1.0)])
    with pytest.raises(TooLarge):
        tree.add(bytes(LONGEST_MEMBER + 1), 2.0)
    tree.check()
    assert list(tree) == [(b"a", 1.0)]


@pytest.mark.parametrize("score", [-1.0, 0.0, 63.0, 64.5, 150.0, 1999.0, 5000.0])
@pytest.mark.parametrize("rank", [0, 1, 63, 64, 127, 128, 1999, 2000])
def test_a_rank_is_found_from_any_lower_one(score: float, rank: int) -> None:
    tree = tree_of([(b"%04d" % n, float(n)) for n in range(2000)])
    for after in (False, True):
        bound = Bound(score, None, after)
        found = tree.rank_from(rank, bound)
        assert found == tree.rank(bound) if tree.rank(bound) >= rank else found <= rank


def test_long_members_have_leaves_of_few_members() -> None:
    tree = tree_of([(bytes([n]) * 20_000, 1.0) for n in range(200, 50, -1)])
    tree.check()
    assert leaves_of(tree) > 70
    assert [member[0] for member, _ in tree] == list(range(51, 201))


def test_members_of_equal_hash_prefix_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Uncompiled, so many have the same prefix; compiled, prefixes are what they are."""
    monkeypatch.setattr(mark_octets, "prefix_of", lambda key: key[0])
    tree = ScoreTree()
    count, expected = rounds(1000), {}
    for n in range(count):
        member = b"%d:%d" % (n % 5, n)
        tree.add(member, -n)
        expected[member] = -n
    tree.check()
    for member, score in expected.items():
        assert tree.score_at(tree.find(member)) == score
    _, page = tree.scan(0, 10_000)
    assert dict(zip(page[::2], page[1::2], strict=True)) == expected
    assert len(page) == 2 * count
    for n in range(0, count, 3):
        member = b"%d:%d" % (n % 5, n)
        tree.remove_at(tree.rank_at(tree.find(member), member))
    tree.check()
    assert tree.find(b"0:0") == -1


def test_a_score_that_keeps_its_place_is_written_there() -> None:
    tree = tree_of([(b"%d" % n, n * 10) for n in range(1000)])
    for n in range(1000):
        tree.set_score(tree.find(b"%d" % n), b"%d" % n, n * 10 + 3)
    tree.check()
    assert [score for _, score in tree] == [n * 10 + 3 for n in range(1000)]
    tree.set_score(tree.find(b"5"), b"5", 53)  # as the next one: now members decide
    assert tree.rank(Bound(53, None, True)) == 6
    tree.set_score(tree.find(b"5"), b"5", 63)
    tree.check()
    assert [member for member, _ in tree][5:7] == [b"5", b"6"]
