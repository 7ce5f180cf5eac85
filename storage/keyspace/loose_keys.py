"""How many keys of a server's databases have values that may be packed when they are not in use.

A small hash, set, sorted set or list is packed beside its key (storage/keyspace/segment.py). It is
an object while somebody changes it: from its first change on its key is *loose*, until it is
packed. A key table notes its own loose keys; this is their number in all tables.
"""

from __future__ import annotations


class LooseKeys:
    """A count, which the key tables of a server share.

    When there are *many*, a value that is changed is packed again at once: a client that changes
    one after the other gains nothing by their objects. One that changes few has them all loose.
    """

    __slots__ = ("count", "many")

    def __init__(self) -> None:
        self.count = 0
        self.many = 1024
