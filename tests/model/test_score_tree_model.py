"""ScoreTree compared with a sorted list, while leaves and branches split and join."""

from __future__ import annotations

from random import Random

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from storage import allocation
from storage.sorted_sets.bound import Bound
from storage.sorted_sets.score_tree import ScoreTree
from tests.used_memory import used_at_start
from tests.worth import rounds

SETTINGS = settings(max_examples=rounds(16), stateful_step_count=25, deadline=None)

# Few scores and members that differ late, so that order is often decided by members.
scores = st.sampled_from([0.0, -0.0, 1.0, -1.5, 7.25, float("inf"), -float("inf")]) | st.integers(
    -1000, 1000
).map(float)
names = st.integers(0, 3000).map(lambda n: b"member:%d" % n) | st.sampled_from(
    [b"", b"a", b"a" * 127, b"a" * 128, b"b" * 700, b"\xff\x00", b"c" * 20_000]
)


class ScoreTreeMachine(RuleBasedStateMachine):
    """Adds, changes and removes single members, and runs of members in several orders."""

    @initialize(members=st.sampled_from([0, 130, 3000]), seed=st.integers(0, 99))
    def fill(self, members: int, seed: int) -> None:
        self.at_start = used_at_start()
        self.dice = Random(seed)
        self.tree = ScoreTree()
        self.model: dict[bytes, float] = {}
        self.add_many(0, members, 1)

    @property
    def ordered(self) -> list[tuple[float, bytes]]:
        return sorted((score, member) for member, score in self.model.items())

    def put(self, member: bytes, score: float) -> None:
        spot = self.tree.find(member)
        assert (spot >= 0) == (member in self.model)
        if spot < 0:
            self.tree.add(member, score)
        else:
            self.tree.set_score(spot, member, score)
        self.model[member] = score

    def drop(self, rank: int, pair: tuple[float, bytes]) -> None:
        assert self.tree.member_at(self.tree.spot_of(rank)) == pair[1]
        self.tree.remove_at(rank)
        del self.model[pair[1]]

    @rule(member=names, score=scores)
    def put_one(self, member: bytes, score: float) -> None:
        self.put(member, score)

    @rule(member=names)
    def look_up(self, member: bytes) -> None:
        spot = self.tree.find(member)
        if member not in self.model:
            assert spot == -1
        else:
            assert self.tree.member_at(spot) == member
            assert self.tree.score_at(spot) == self.model[member]
            assert self.tree.rank_at(spot, member) == self.ordered.index(
                (self.model[member], member)
            )

    @rule(first=st.integers(0, 3000), count=st.integers(0, 700), step=st.sampled_from([1, -1, 0]))
    def add_many(self, first: int, count: int, step: int) -> None:
        """Scores ascend, descend, or are all equal."""
        for n in range(first, first + count):
            self.put(b"member:%d" % n, float(n * step))

    @rule(count=st.integers(0, 700))
    def add_anywhere(self, count: int) -> None:
        for _ in range(count):
            self.put(b"member:%d" % self.dice.randrange(3000), self.dice.randrange(-500, 500) / 4)

    @rule(count=st.integers(0, 1500), from_end=st.booleans())
    def remove_from_an_end(self, count: int, from_end: bool) -> None:
        pairs = self.ordered
        for _ in range(min(count, len(pairs))):
            rank = len(pairs) - 1 if from_end else 0
            self.drop(rank, pairs.pop(rank))

    @rule(count=st.integers(0, 1500))
    def remove_anywhere(self, count: int) -> None:
        pairs = self.ordered
        for _ in range(min(count, len(pairs))):
            rank = self.dice.randrange(len(pairs))
            self.drop(rank, pairs.pop(rank))

    @rule(score=scores, after=st.booleans())
    def rank_by_score(self, score: float, after: bool) -> None:
        before = sum(found < score or (after and found == score) for found in self.model.values())
        assert self.tree.rank(Bound(score, None, after)) == before

    @rule(score=scores, member=names, after=st.booleans())
    def rank_by_both(self, score: float, member: bytes, after: bool) -> None:
        place = (score, member)
        before = sum(pair < place or (after and pair == place) for pair in self.ordered)
        assert self.tree.rank(Bound(score, member, after)) == before

    @rule(member=names, after=st.booleans())
    def rank_by_member(self, member: bytes, after: bool) -> None:
        if len(set(self.model.values())) <= 1:
            before = sum(name < member or (after and name == member) for name in self.model)
            assert self.tree.rank(Bound(None, member, after)) == before

    @rule()
    def rank_of_the_ends(self) -> None:
        assert self.tree.rank(Bound(None, None, False)) == 0
        assert self.tree.rank(Bound(None, None, True)) == len(self.model)

    @rule()
    def go_on_with_a_copy(self) -> None:
        self.tree = self.tree.copy()

    @rule()
    def check_everything(self) -> None:
        self.tree.check()
        assert [(score, member) for member, score in self.tree] == self.ordered

    @invariant()
    def has_as_many_members(self) -> None:
        if hasattr(self, "tree"):
            assert len(self.tree) == len(self.model)

    def teardown(self) -> None:
        if hasattr(self, "tree"):
            self.check_everything()
            assert allocation.used_bytes() > self.at_start
            del self.tree
            assert allocation.used_bytes() == self.at_start


ScoreTreeMachine.TestCase.settings = SETTINGS
TestScoreTree = ScoreTreeMachine.TestCase
