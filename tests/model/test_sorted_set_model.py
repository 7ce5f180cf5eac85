"""SortedSet compared with a dict, while it is a listpack, a tree, and when it becomes one."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from storage.chance import Chance
from storage.limits import ListpackLimits
from storage.payload import dump, restore
from storage.rdb.options import ReadOptions
from storage.sorted_sets.bound import Bound
from storage.sorted_sets.sorted_set import SortedSet
from tests.worth import rounds

SETTINGS = settings(max_examples=rounds(60), stateful_step_count=30, deadline=None)

members = st.one_of(
    st.integers(-3, 12).map(lambda n: b"%d" % n),
    st.sampled_from([0, 10, 64, 65, 127, 128, 5000]).map(lambda size: b"m" * size),
    st.binary(max_size=2),
)
scores = (
    st.sampled_from([0.0, 1.0, -1.0, 0.1, 1e-9, 2.0**62, 1e300, float("inf"), -float("inf")])
    | st.integers(-5, 5).map(float)
    | st.floats(allow_nan=False)
)


class SortedSetMachine(RuleBasedStateMachine):
    """Every operation on any member; a scan goes on all the time."""

    @initialize(
        entries=st.sampled_from([0, 1, 5, 30]),
        value=st.sampled_from([0, 3, 64, 10_000]),
        seed=st.integers(0, 9),
    )
    def begin(self, entries: int, value: int, seed: int) -> None:
        self.chance = Chance(seed)
        self.limits = ListpackLimits(entries, value)
        self.values = SortedSet()
        self.model: dict[bytes, float] = {}
        self.was_tree = False
        self._begin_scan()

    def _begin_scan(self) -> None:
        self.cursor = 0
        self.stayed = set(self.model)  # since the scan began
        self.found: list[bytes] = []

    def ordered(self) -> list[tuple[bytes, float]]:
        return sorted(self.model.items(), key=lambda pair: (pair[1], pair[0]))

    @rule(member=members, score=scores)
    def put(self, member: bytes, score: float) -> None:
        assert self.values.put(member, score, self.limits) == self.model.get(member)
        self.model[member] = score

    @rule(first=st.integers(0, 90), count=st.integers(0, 200), step=st.sampled_from([-1, 0, 0.5]))
    def put_many(self, first: int, count: int, step: float) -> None:
        for n in range(first, first + count):
            self.put(b"n%d" % n, n * step)

    @rule(member=members)
    def remove(self, member: bytes) -> None:
        assert self.values.remove(member) == (self.model.pop(member, None) is not None)
        self.stayed.discard(member)

    @rule(share=st.floats(0, 1), count=st.integers(0, 200))
    def remove_range(self, share: float, count: int) -> None:
        pairs = self.ordered()
        first = int(share * len(pairs))
        end = min(len(pairs), first + count)
        self.values.remove_range(first, end)
        for member, _ in pairs[first:end]:
            del self.model[member]
            self.stayed.discard(member)

    @rule(member=members)
    def look_up(self, member: bytes) -> None:
        assert self.values.score_of(member) == self.model.get(member)
        names = [name for name, _ in self.ordered()]
        assert self.values.rank_of(member) == (names.index(member) if member in names else -1)

    @rule(score=scores, after=st.booleans())
    def rank_by_score(self, score: float, after: bool) -> None:
        before = sum(found < score or (after and found == score) for found in self.model.values())
        assert self.values.rank(Bound(score, None, after)) == before

    @rule(share=st.floats(0, 1), reverse=st.booleans())
    def walk(self, share: float, reverse: bool) -> None:
        pairs = self.ordered()
        rank = int(share * len(pairs)) - reverse
        walk = self.values.walk(rank, reverse)
        found = []
        while walk.next():
            found.append((walk.member(), walk.score))
        assert found == (pairs[: rank + 1][::-1] if reverse else pairs[rank:])

    @rule(count=st.integers(1, 50))
    def scan_a_page(self, count: int) -> None:
        """A member that stays while a scan goes on is found, whatever becomes of the set."""
        self.cursor, page = self.values.scan(self.cursor, count)
        self.found += page[::2]
        for member, score in zip(page[::2], page[1::2], strict=True):
            assert self.model[member] == score
        if self.cursor == 0:
            assert self.stayed <= set(self.found)
            self._begin_scan()

    @rule(count=st.integers(0, 20))
    def sample(self, count: int) -> None:
        sample = self.values.sample(self.chance, min(count, len(self.model)))
        assert len(dict(sample)) == len(sample) == min(count, len(self.model))
        assert dict(sample).items() <= self.model.items()

    @rule()
    def copy(self) -> None:
        other = self.values.copy()
        assert other.encoding == self.values.encoding
        self.values.put(b"only here", 0, self.limits)
        self.values = other

    @rule()
    def save_and_load(self) -> None:
        if self.model:
            options = ReadOptions(sorted_set_limits=self.limits)
            assert list(restore(dump(self.values), options)) == self.ordered()

    @rule(entries=st.integers(0, 50))
    def other_limits(self, entries: int) -> None:
        self.limits = ListpackLimits(entries, self.limits.value)

    @rule()
    def become_small(self) -> None:
        self.values.become_small(self.limits)
        longest = max(map(len, self.model), default=0)
        if len(self.model) <= self.limits.entries and longest <= self.limits.value:
            assert self.values.encoding == b"listpack"
            self.was_tree = False

    @invariant()
    def agrees_with_the_model(self) -> None:
        assert len(self.values) == len(self.model)
        assert list(self.values) == self.ordered()

    @invariant()
    def is_a_tree_until_it_is_made_small(self) -> None:
        is_tree = self.values.encoding == b"skiplist"
        assert is_tree or not self.was_tree
        self.was_tree = is_tree
        self.values.check()


SortedSetMachine.TestCase.settings = SETTINGS
TestSortedSet = SortedSetMachine.TestCase
