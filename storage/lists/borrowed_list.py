"""A short list read through borrowed references: the plain versions of borrowed_list.pxd.

See storage/rdb/borrowed.py for what that is and why.
"""

from __future__ import annotations

from storage.listpack.listpack import Listpack
from storage.lists.quicklist import QuickList
from storage.rdb.borrowed import Borrowed


def only_listpack(value: Borrowed) -> Borrowed:
    """The listpack of a quicklist *value* that has no other node; otherwise nothing."""
    quicklist: QuickList = value
    if quicklist.node_count != 1:
        return None
    node = quicklist.nodes()[0]
    return node if isinstance(node, Listpack) else None
