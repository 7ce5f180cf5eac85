"""maxmemory-policy: which keys may be evicted, and which of them is.

                allkeys-     volatile-: only keys that expire
    lrm         x            x           the one that has not been changed for the longest time
    lru         x            x           the one that has not been used for the longest time
    lfu         x            x           the one that is used most rarely
    random      x            x           any
    ttl                      x           the one that expires first

With noeviction none is, and commands that add data are refused.
"""

from __future__ import annotations

from typing import NamedTuple

from storage.keyspace.eviction_rank import BY_EXPIRY, BY_FREQUENCY, BY_IDLE_TIME

ANY = 0  # in the place of what ranks them


class Policy(NamedTuple):
    """*volatile*: keys without expiry are spared. *rank*: what ranks the others.

    *by_writes*: a key is used when it is changed, and not when it is read.
    """

    volatile: bool
    rank: int
    by_writes: bool = False


_RANKS = {
    "lru": BY_IDLE_TIME,
    "lrm": BY_IDLE_TIME,
    "lfu": BY_FREQUENCY,
    "random": ANY,
    "ttl": BY_EXPIRY,
}


def policy_named(name: str) -> Policy | None:
    """The policy of that name; None if keys are not evicted at all."""
    which, _, rank = name.partition("-")
    return Policy(which == "volatile", _RANKS[rank], rank == "lrm") if rank else None
