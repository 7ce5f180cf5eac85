"""What is asked before a script or a function runs."""

from __future__ import annotations

from protocol.replies import ErrorReply
from server.client.origin import REPLAYED
from server.dispatch.call import Call
from server.parts.scripting.header import ALLOW_OOM, ALLOW_STALE, NO_HEADER, NO_WRITES
from server.parts.scripting.script import FIRST_KEY
from server.table import errors
from server.table.args import to_int
from server.table.errors import READ_ONLY_REPLICA

WRITES_IN_READ_ONLY = ErrorReply(
    "ERR", "Can not execute a script with write flag using *_ro command."
)
NEEDS_ALLOW_OOM = ErrorReply(
    "OOM",
    "allow-oom flag is not set on the script, can not run it when used memory > 'maxmemory'",
)
STALE = ErrorReply(
    "MASTERDOWN",
    "Link with MASTER is down, replica-serve-stale-data is set to 'no' and 'allow-stale' flag is"
    " not set on the script.",
)
ON_REPLICA = ErrorReply("READONLY", "Can not run script with write flag on readonly replica")
BAD_KEY_COUNT = ErrorReply("ERR", "Bad number of keys provided")
TOO_MANY_KEYS = ErrorReply("ERR", "Number of keys can't be greater than number of args")
NEGATIVE_KEYS = ErrorReply("ERR", "Number of keys can't be negative")


def key_count(argv: list[bytes], no_number: ErrorReply = errors.NOT_AN_INTEGER) -> int:
    """How many words after ``EVAL script numkeys`` are keys. Raises ErrorReply."""
    count = to_int(argv[2], no_number)
    if count > len(argv) - FIRST_KEY:
        raise TOO_MANY_KEYS
    if count < 0:
        raise NEGATIVE_KEYS
    return count  # no more than there are words


def checked_flags(call: Call, flags: int, read_only: bool) -> int:
    """The *flags* with which a script may run now. Raises ErrorReply.

    Of one without a first line each command is asked, but for stale data. What is replayed was
    asked when it ran first.
    """
    if not call.origin & REPLAYED:
        if not flags & NO_HEADER:
            _check(call, flags, read_only)
        elif call.server.restrictions.stale:
            raise errors.PRIMARY_IS_DOWN
    return flags | NO_WRITES if read_only else flags


def _check(call: Call, flags: int, read_only: bool) -> None:
    """Refuse a script by its first line. What was queued before may meet another state now."""
    now = call.server.restrictions
    if now.stale and not flags & ALLOW_STALE:
        raise STALE
    if not flags & NO_WRITES:
        if now.role_refusal is READ_ONLY_REPLICA:
            raise ON_REPLICA
        if now.write_refusal is not None:
            raise now.write_refusal
        if read_only:
            raise WRITES_IN_READ_ONLY
        if now.role_refusal is not None:
            raise now.role_refusal
    is_full = now.must_check and call.server.key_eviction.is_out_of_memory
    if is_full and not flags & (NO_WRITES | ALLOW_OOM):
        raise NEEDS_ALLOW_OOM
