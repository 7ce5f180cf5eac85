"""How many keys of a server's databases have values that may be packed when they are not in use.

A small hash, set, sorted set or list is packed beside its key (storage/keyspace/segment.py). It is
an object while somebody changes it: from its first change on its key is *loose*, until it is
packed. A key table notes its own loose keys; this is their number in all tables.
"""

from __future__ import annotations


class LooseKeys:
    """A count, which the key tables of a server share."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0
