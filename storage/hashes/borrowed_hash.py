"""A hash read through borrowed references: the plain versions of borrowed_hash.pxd.

See storage/rdb/borrowed.py for what that is and why.
"""

from __future__ import annotations

from storage.hashes.hash import Hash
from storage.rdb.borrowed import Borrowed


def pack_of(value: Borrowed) -> Borrowed:
    """The listpack of the hash *value*; nothing if it is a table."""
    found: Hash = value
    return found.pack


def table_of(value: Borrowed) -> Borrowed:
    """The table of the hash *value*; nothing if it is a listpack."""
    found: Hash = value
    return found.table
