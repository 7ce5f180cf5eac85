"""KEYS, SCAN and RANDOMKEY: list the keys of a database."""

from __future__ import annotations

from random import randrange
from typing import Any

from protocol.replies import ErrorReply, Reply
from server.dispatch.call import Call
from server.table import errors
from server.table.args import Args
from server.table.command import Flags, command
from server.table.documentation import Tip
from storage import types
from storage.glob import match

INVALID_CURSOR = ErrorReply("ERR", "invalid cursor")
DEFAULT_PAGE = 10
MAX_CURSOR = 2**64 - 1
MAX_CURSOR_TEXT = 20
EVERYTHING = b"*"


@command(
    "KEYS",
    arity=2,
    flags=Flags.READONLY,
    group="generic",
    since="1.0.0",
    complexity="O(N) where N is the number of keys in the database.",
    categories=["keyspace", "dangerous"],
    tips=[Tip.REQUEST_ALL_SHARDS, Tip.NONDETERMINISTIC_OUTPUT_ORDER],
)
def keys(call: Call) -> Reply:
    """Lists the keys whose names match a pattern.

    KEYS pattern
    """
    pattern = call.argv[1]
    return [key for key in call.db.keys() if pattern == EVERYTHING or match(pattern, key)]  # noqa: SIM118


@command(
    "SCAN",
    arity=-2,
    flags=Flags.READONLY,
    group="generic",
    since="2.8.0",
    complexity="O(1) a page, O(N) for all pages, where N is the number of keys.",
    tips=[Tip.NONDETERMINISTIC_OUTPUT, Tip.REQUEST_SPECIAL, Tip.RESPONSE_SPECIAL],
    history=[("6.0.0", "The TYPE option.")],
)
def scan(call: Call) -> Reply:
    """Lists the keys of a database, one page for each call.

    SCAN cursor [MATCH pattern] [COUNT count] [TYPE type]
    """
    cursor = _cursor(call.argv[1])
    pattern, count, wanted = _scan_options(call.argv)
    cursor, page = call.db.scan(cursor, min(count, len(call.db)))
    found: list[Reply] = []
    for key in page:
        if pattern == EVERYTHING or match(pattern, key):
            value = call.db.peek(key)  # an expired key is removed now
            if value is not None and _is_wanted(value, wanted):
                found.append(key)
    return [b"%d" % cursor, found]


def _cursor(text: bytes) -> int:
    if not text.isdigit() or len(text) > MAX_CURSOR_TEXT or int(text) > MAX_CURSOR:
        raise INVALID_CURSOR
    return int(text)


def _scan_options(argv: list[bytes]) -> tuple[bytes, int, bytes | None]:
    """Pattern, size of the page, name of the type in small letters (None: any)."""
    pattern, count = EVERYTHING, DEFAULT_PAGE
    wanted: bytes | None = None
    args = Args(argv, 2)
    while args.left:
        word = args.take_word(b"MATCH", b"COUNT", b"TYPE")
        if word is None or not args.left:
            raise errors.SYNTAX
        if word == b"MATCH":
            pattern = args.take()
        elif word == b"TYPE":
            wanted = args.take().lower()
        elif (count := args.take_int()) < 1:
            raise errors.SYNTAX
    return pattern, count, wanted


def _is_wanted(value: Any, type_name: bytes | None) -> bool:
    return type_name is None or types.of(value).name == type_name


@command(
    "RANDOMKEY",
    arity=1,
    flags=Flags.READONLY,
    group="generic",
    since="1.0.0",
    tips=[Tip.REQUEST_ALL_SHARDS, Tip.RESPONSE_SPECIAL, Tip.NONDETERMINISTIC_OUTPUT],
)
def randomkey(call: Call) -> Reply:
    """Returns a key of the database, whichever comes up.

    RANDOMKEY
    """
    return call.db.random_key(randrange)
