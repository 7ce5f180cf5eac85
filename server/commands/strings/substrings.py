"""The string commands that read or change a part of a string, and STRLEN."""

from __future__ import annotations

from protocol.replies import ErrorReply, Reply
from server.commands.strings import string_steps
from server.dispatch.call import Call
from server.table import errors
from server.table.args import to_int
from server.table.command import Flags, command
from server.table.documentation import Deprecated
from server.table.keys import ACCESS, INSERT, RO, RW, UPDATE, KeyRange
from storage import allocation
from storage.keyspace.key_lookups import STRING

READ = Flags.READONLY | Flags.FAST
WRITE = Flags.WRITE | Flags.DENYOOM

OFFSET_OUT_OF_RANGE = ErrorReply("ERR", "offset is out of range")


@command(
    "STRLEN",
    arity=2,
    flags=READ,
    group="string",
    since="2.2.0",
    keys=KeyRange(RO),
)
def strlen(call: Call) -> Reply:
    """Counts the bytes of a string.

    STRLEN key
    """
    value = call.db.read(call.argv[1], STRING)
    return 0 if value is None else string_steps.length_of(value)


@command(
    "APPEND",
    arity=3,
    flags=WRITE | Flags.FAST,
    group="string",
    since="2.0.0",
    keys=KeyRange(RW | INSERT),
)
def append(call: Call) -> Reply:
    """Adds bytes to the end of a string; a missing key is an empty string.

    APPEND key value
    """
    _, key, suffix = call.argv
    value = call.db.find(key, STRING)
    if value is None:
        call.db.add(key, suffix)
        call.db.changed(key, b"append")
        return len(suffix)
    raw = value if type(value) is bytearray else bytearray(string_steps.text_of(value))
    if len(raw) + len(suffix) > call.longest_string():
        raise errors.STRING_TOO_LARGE
    before = allocation.of_string(raw)
    raw += suffix
    call.db.store_string(key, raw, allocation.of_string(raw) - before if raw is value else 0)
    call.db.changed(key, b"append")
    return len(raw)


@command(
    "SETRANGE",
    arity=4,
    flags=WRITE,
    group="string",
    since="2.2.0",
    complexity="O(M) where M is the length of the value argument.",
    keys=KeyRange(RW | UPDATE),
)
def setrange(call: Call) -> Reply:
    """Overwrites bytes of a string from an offset on; the string grows as needed.

    SETRANGE key offset value
    """
    _, key, offset_text, patch = call.argv
    offset = to_int(offset_text)
    if offset < 0:
        raise OFFSET_OUT_OF_RANGE
    value = call.db.find(key, STRING)
    if not patch:
        return 0 if value is None else string_steps.length_of(value)
    if offset + len(patch) > call.longest_string():
        raise errors.STRING_TOO_LARGE
    raw = string_steps.padded(call, key, value, offset + len(patch))
    raw[offset : offset + len(patch)] = patch
    call.db.changed(key, b"setrange")
    return len(raw)


@command(
    "GETRANGE",
    arity=4,
    flags=Flags.READONLY,
    group="string",
    since="2.4.0",
    complexity="O(N) where N is the length of the returned string.",
    keys=KeyRange(RO | ACCESS),
)
def getrange(call: Call) -> Reply:
    """Returns the bytes of a string between two offsets, both included.

    GETRANGE key start end
    """
    _, key, start_text, end_text = call.argv
    start, end = to_int(start_text), to_int(end_text)
    value = call.db.read(key, STRING)
    if value is None:
        return b""
    if start < 0 and end < 0 and start > end:
        return b""
    size = string_steps.length_of(value)
    start = max(start + size, 0) if start < 0 else min(start, size)
    end = max(end + size, 0) if end < 0 else min(end, size)
    if type(value) is bytearray:  # it is not copied whole
        with memoryview(value) as whole, whole[start : end + 1] as part:
            return bytes(part)
    return string_steps.text_of(value)[start : end + 1]


@command(
    "SUBSTR",
    arity=4,
    flags=Flags.READONLY,
    group="string",
    since="1.0.0",
    complexity="O(N) where N is the length of the returned string.",
    keys=KeyRange(RO | ACCESS),
    deprecated=Deprecated("2.0.0", "`GETRANGE`"),
)
def substr(call: Call) -> Reply:
    """Does what GETRANGE does; this is its old name.

    SUBSTR key start end
    """
    return getrange(call)
