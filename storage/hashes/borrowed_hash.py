"""A hash read through borrowed references: the plain versions of borrowed_hash.pxd.

See storage/rdb/borrowed.py for what that is and why.
"""

from __future__ import annotations

from storage.hashes.hash import Hash
from storage.rdb import raw
from storage.rdb.borrowed import Borrowed


def pack_of(value: Borrowed) -> Borrowed:
    """The listpack of the hash *value*; nothing if it is a table."""
    found: Hash = value
    return found.pack


def table_of(value: Borrowed) -> Borrowed:
    """The table of the hash *value*; nothing if it is a listpack."""
    found: Hash = value
    return found.table


def listpack_octets(pack: Borrowed) -> raw.Raw:
    """The bytes of a listpack; there may be unused ones past its end."""
    data: bytearray = pack.data
    return data


def listpack_size(pack: Borrowed) -> int:
    """How many bytes of these the listpack has."""
    size: int = pack.size
    return size
