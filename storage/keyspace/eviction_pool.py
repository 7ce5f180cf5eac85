"""Which key is to be evicted: the best of a few at random, and of those that were good before.

    sample()    some keys of a database, drawn at random; each may enter the pool
    the pool    up to 16 candidates, the best one last        score  3   7   7   12   90
    take()      the best one leaves the pool                  key    k9  k1  k4  k2   k7

A score is how gladly the key is given up: by LRU the seconds since its last use, by LFU how rarely
it is used, by TTL how soon it expires. With the pool, five keys a time come close to the choice
among all keys.

Source: https://redis.io/docs/latest/develop/reference/eviction/
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from storage.keyspace.eviction_rank import BY_EXPIRY, BY_FREQUENCY, BY_IDLE_TIME
from storage.keyspace.key_table import KeyTable
from storage.keyspace.keyspace import Keyspace
from storage.keyspace.usage import Usage

SIZE: Final = 16
POOL_SIZE = SIZE  # the same as a C number


class Candidate:
    """A key that may be evicted. *mark*: what its score was made of; it changes with each use."""

    __slots__ = ("database", "key", "mark", "score")

    score: int
    mark: int
    database: Keyspace
    key: bytes


class EvictionPool:
    """Candidates in the order of their scores. *below* (n) gives a random number, 0 .. n - 1."""

    __slots__ = ("_below", "_candidates", "_rank", "_usage")

    def __init__(self, usage: Usage, below: Callable[[int], int]) -> None:
        self._usage = usage
        self._below = below
        self._rank = BY_IDLE_TIME
        self._candidates: list[Candidate] = []

    def __len__(self) -> int:
        return len(self._candidates)

    def rank_by(self, rank: int) -> None:
        """What makes the score from now on (eviction_rank.py). The pool is empty then."""
        self._rank = rank
        self.clear()

    def clear(self) -> None:
        """Forget all candidates."""
        self._candidates = []

    def sample(self, database: Keyspace, volatile: bool, count: int) -> None:
        """Let *count* keys of *database* enter, or with *volatile* of those that expire. O(count).

        A key enters if there is room, or if it is better than the worst candidate, which leaves.
        """
        keys = database.keys_to_evict(False)
        drawn = database.keys_to_evict(volatile)
        if drawn.used == 0:
            return
        place = drawn.random_place(self._below)
        for _ in range(min(count, drawn.used)):
            mark = self._mark_at(place, drawn, keys)
            score = self._score(mark)
            if len(self._candidates) < POOL_SIZE or score > self._candidates[0].score:
                self._enter(database, drawn.key_at(place), mark, score)
            place = drawn.place_behind(place)

    def _enter(self, database: Keyspace, key: bytes, mark: int, score: int) -> None:
        if len(self._candidates) == POOL_SIZE:
            del self._candidates[0]
        candidate = Candidate.__new__(Candidate)
        candidate.database = database
        candidate.key = key
        candidate.mark = mark
        candidate.score = score
        at = 0
        while at < len(self._candidates) and self._candidates[at].score < score:
            at += 1
        self._candidates.insert(at, candidate)

    def take(self) -> Candidate | None:
        """Remove the best candidate; None if there is none.

        Those that have been used since they entered, or are gone, are passed over.
        """
        while self._candidates:
            candidate = self._candidates.pop()
            if self._mark_now(candidate) == candidate.mark:
                return candidate
        return None

    # ------------------------------------------------------------------ marks and scores

    def _mark_at(self, place: int, drawn: KeyTable, keys: KeyTable) -> int:
        """When the key at *place* of *drawn* expires, or its last use, which *keys* has."""
        if self._rank == BY_EXPIRY:
            when_ms: int = drawn.value_at(place)
            return when_ms
        if drawn is keys:
            return keys.last_use_at(place)
        return keys.last_use_of(drawn.key_at(place))

    def _mark_now(self, candidate: Candidate) -> int:
        """The same for a candidate; another number if its key is gone."""
        if self._rank == BY_EXPIRY:
            return candidate.database.expiry(candidate.key)
        return candidate.database.keys_to_evict(False).last_use_of(candidate.key)

    def _score(self, mark: int) -> int:
        if self._rank == BY_EXPIRY:
            return -mark
        if self._rank == BY_FREQUENCY:
            return -self._usage.frequency(mark)
        return self._usage.idle_s(mark)
