"""The subcommands of DEBUG that look at keys and values, or make them."""

from __future__ import annotations

import logging
import sys
from typing import Any

from protocol.replies import OK, ErrorReply, Reply, Status
from server.commands.admin import reloading
from server.dispatch.call import Call
from server.table import errors
from server.table.args import to_int
from storage import digest, payload, types
from storage.listpack.listpack import Listpack
from storage.lists.quicklist import QuickList

NO_LISTPACK = ErrorReply("ERR", "Not a listpack encoded object.")
NOT_SDS = ErrorReply("ERR", "Not an sds encoded string.")
NOT_QUICKLIST = ErrorReply("ERR", "Not a quicklist encoded object.")

LRU_CLOCK = 2**24 - 1  # seconds; Redis counts them in 24 bits
SHOWN_BYTES = 40  # of an element in a description of its listpack

_log = logging.getLogger("penstock")


def _value(call: Call) -> Any:
    value = call.db.peek(call.argv[2])
    if value is None:
        raise errors.NO_SUCH_KEY
    return value


def kept_as(call: Call) -> Reply:
    value = _value(call)
    kind = types.of(value)
    idle_s = max(call.db.idle_s(call.argv[2]), 0)
    last_used_s = call.now_ms // 1000 - idle_s
    facts = kind.debug_facts(value, call.server.config.list_compress_depth)
    line = (
        f"Value at:{id(value):#x} refcount:{kind.reference_count(value)}"
        f" encoding:{kind.encoding(value).decode()}"
        f" serializedlength:{len(payload.dump(value)) - payload.FOOTER - 1}"
        f" lru:{last_used_s & LRU_CLOCK} lru_seconds_idle:{idle_s}{facts}"
    )
    return Status(line.encode())


def digest_of_data(call: Call) -> Reply:
    return Status(digest.of_data(call.server.databases).hex().encode())


def digests_of_values(call: Call) -> Reply:
    return [Status(digest.of_key(call.db, key).hex().encode()) for key in call.argv[2:]]


def listpack(call: Call) -> Reply:
    value = _value(call)
    pack = types.of(value).only_listpack(value)
    if pack is None:
        raise NO_LISTPACK
    for line in description_of(pack):
        _log.warning("%s", line)
    return Status(b"Listpack structure written to the log")


def description_of(pack: Listpack) -> list[str]:
    """Describe *pack*: its head, then a line for each element with the offset of its first byte."""
    lines = [f"listpack: {pack.size} bytes, {len(pack)} elements"]
    at = pack.first()
    while at >= 0:
        element = pack.get(at)
        shown = element[:SHOWN_BYTES] if isinstance(element, bytes) else element
        lines.append(f"{at:6}: {shown!r}")
        at = pack.next(at)
    return lines


def populate(call: Call) -> Reply:
    """Create string keys; existing ones stay as they are."""
    reloading.refuse_amid_work(call)
    options = call.argv[3:]
    count = to_int(call.argv[2], errors.NOT_POSITIVE)
    prefix = options[0] if options else b"key"
    size = to_int(options[1], errors.NOT_POSITIVE) if len(options) > 1 else 0
    if count < 0 or size < 0:
        raise errors.NOT_POSITIVE
    if size > call.longest_string():
        raise errors.STRING_TOO_LARGE
    for number in range(count):
        key = b"%b:%d" % (prefix, number)
        if key not in call.db:
            value = b"value:%d" % number
            call.db.add(key, value[:size].ljust(size, b"\0") if size else value)
            call.db.changed(key, b"set")
    return OK


def string_sizes(call: Call) -> Reply:
    """The lengths of a key and its string, and the memory that both take: none is left over."""
    key, value = call.argv[2], _value(call)
    if not isinstance(value, bytes) or types.of(value).encoding(value) == b"int":
        raise NOT_SDS
    sizes = (
        f"key_sds_len:{len(key)}, key_sds_avail:0, key_zmalloc: {sys.getsizeof(key)},"
        f" val_sds_len:{len(value)}, val_sds_avail:0, val_zmalloc: {sys.getsizeof(value)}"
    )
    return Status(sizes.encode())


def list_nodes(call: Call) -> Reply:
    """Write to the server log how many bytes each node of a list has."""
    value = _value(call)
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
