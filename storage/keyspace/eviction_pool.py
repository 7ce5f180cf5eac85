# cython: boundscheck=False, wraparound=False
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

from typing import Final

from storage.chance import Chance
from storage.hash_table import mark_octets
from storage.keyspace.eviction_rank import BY_EXPIRY, BY_FREQUENCY, BY_IDLE_TIME
from storage.keyspace.key_table import KeyTable
from storage.keyspace.keyspace import Keyspace
from storage.keyspace.segment import Segment
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
    """Candidates in the order of their scores. Keys are drawn by *chance*."""

    __slots__ = (
        "_candidates",
        "_chance",
        "_drawn",
        "_drawn_from",
        "_drawn_slots",
        "_lowest",
        "_rank",
        "_usage",
    )

    def __init__(self, usage: Usage, chance: Chance) -> None:
        self._usage = usage
        self._chance = chance
        self._rank = BY_IDLE_TIME
        self._candidates: list[Candidate] = []
        self._lowest = 0  # the score of the first of them
        self._drawn: list[int] = []  # places that will be sampled next
        self._drawn_from: KeyTable | None = None  # the table that they are of,
        self._drawn_slots = 0  # and how many slots that had

    def __len__(self) -> int:
        return len(self._candidates)

    def rank_by(self, rank: int) -> None:
        """What makes the score from now on (eviction_rank.py). The pool is empty then."""
        self._rank = rank
        self.clear()

    def clear(self) -> None:
        """Forget all candidates, and the places that were drawn."""
        self._candidates = []
        self._drawn = []
        self._drawn_from = None

    def sample(self, database: Keyspace, volatile: bool, count: int) -> None:
        """Let *count* keys of *database* enter, or with *volatile* of those that expire. O(count).

        A key enters if there is room, or if it is better than the worst candidate, which leaves.
        """
        keys = database.keys_to_evict(False)
        drawn = database.keys_to_evict(volatile)
        if drawn.used == 0:
            return
        place = self._next_place(drawn, count)
        segment, at = drawn.segment_at(place), place & mark_octets.AT_MASK
        for _ in range(min(count, drawn.used)):
            if at == mark_octets.count(segment.marks):
                place = drawn.place_behind(place | mark_octets.AT_MASK)
                segment, at = drawn.segment_at(place), 0
            mark = self._mark_at(segment, at, drawn is keys, keys)
            score = self._score(mark)
            if len(self._candidates) < POOL_SIZE or score > self._lowest:
                self._enter(database, segment.key_at(at), mark, score)
            at += 1

    def _next_place(self, table: KeyTable, count: int) -> int:
        """A random place of *table*, of which *count* keys are going to be looked at."""
        if self._drawn_from is not table or self._drawn_slots != table.slots():
            self._drawn = []
        while self._drawn:
            place = self._drawn.pop()
            if table.is_place(place):
                return place
        self._drawn = table.draw_places(self._chance, count)
        self._drawn_from = table
        self._drawn_slots = table.slots()
        return table.random_place(self._chance)

    def _enter(self, database: Keyspace, key: bytes, mark: int, score: int) -> None:
        if len(self._candidates) == POOL_SIZE:
            candidate = self._candidates.pop(0)  # the worst one: its object serves again
        else:
            candidate = Candidate.__new__(Candidate)
        candidate.database = database
        candidate.key = key
        candidate.mark = mark
        candidate.score = score
        at = 0
        while at < len(self._candidates):
            other = self._candidates[at]
            if other.score >= score:
                break
            at += 1
        self._candidates.insert(at, candidate)
        other = self._candidates[0]
        self._lowest = other.score

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

    def _mark_at(self, segment: Segment, at: int, is_of_keys: bool, keys: KeyTable) -> int:
        """When the key number *at* of *segment* expires, or its last use, which *keys* has."""
        if self._rank == BY_EXPIRY:
            return segment.number_at(at)
        if is_of_keys:
            return segment.last_use_at(at)
        return keys.last_use_of(segment.key_at(at))

    def _mark_now(self, candidate: Candidate) -> int:
        """When *candidate* expires, or its last use; a different number if its key is gone."""
        if self._rank == BY_EXPIRY:
            return candidate.database.expiry(candidate.key)
        return candidate.database.keys_to_evict(False).last_use_of(candidate.key)

    def _score(self, mark: int) -> int:
        if self._rank == BY_EXPIRY:
            return -mark
        if self._rank == BY_FREQUENCY:
            return -self._usage.frequency(mark)
        return self._usage.idle_s(mark)
