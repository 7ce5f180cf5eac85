"""DEBUG SDSLEN and DEBUG QUICKLIST: how much memory a string takes, and what nodes a list has."""

from __future__ import annotations

import logging
import sys

from protocol.replies import ErrorReply, Reply, Status
from server.dispatch.call import Call
from server.table import errors
from storage import types
from storage.lists.quicklist import QuickList

NOT_SDS = ErrorReply("ERR", "Not an sds encoded string.")
NOT_QUICKLIST = ErrorReply("ERR", "Not a quicklist encoded object.")

_log = logging.getLogger("penstock")


def string_sizes(call: Call) -> Reply:
    """The lengths of a key and its string, and the memory that both take: none is left over."""
    key = call.argv[2]
    value = call.db.peek(key)
    if value is None:
        raise errors.NO_SUCH_KEY
    if not isinstance(value, bytes) or types.of(value).encoding(value) == b"int":
        raise NOT_SDS
    sizes = (
        f"key_sds_len:{len(key)}, key_sds_avail:0, key_zmalloc: {sys.getsizeof(key)},"
        f" val_sds_len:{len(value)}, val_sds_avail:0, val_zmalloc: {sys.getsizeof(value)}"
    )
    return Status(sizes.encode())


def list_nodes(call: Call) -> Reply:
    """Write to the server log how many bytes each node of a list has."""
    value = call.db.peek(call.argv[2])
    if value is None:
        raise errors.NO_SUCH_KEY
    if not isinstance(value, QuickList) or value.encoding != b"quicklist":
        raise NOT_QUICKLIST
    nodes = value.nodes()
    _log.warning("quicklist: %d elements in %d nodes", len(value), len(nodes))
    for node in nodes:
        if isinstance(node, bytes):
            _log.warning("an element of %d bytes", len(node))
        else:
            _log.warning("a listpack of %d bytes", node.size)
    return Status(b"Quicklist structure written to the log")
