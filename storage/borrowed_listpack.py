"""A listpack read through borrowed references: the plain versions of borrowed_listpack.pxd.

See storage/rdb/borrowed.py for what that is and why. Small lists, hashes and sorted sets are one.
"""

from __future__ import annotations

from storage.rdb import raw
from storage.rdb.borrowed import Borrowed


def octets(pack: Borrowed) -> raw.Raw:
    """The bytes of a listpack; there may be unused ones past its end."""
    data: bytearray = pack.data
    return data


def size(pack: Borrowed) -> int:
    """How many bytes of these the listpack has."""
    used: int = pack.size
    return used
