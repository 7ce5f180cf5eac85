"""KEYS, SCAN and RANDOMKEY: list the keys of a database."""

from __future__ import annotations

from protocol.replies import Reply
from server.commands.shared.scan_args import EVERYTHING, ScanOptions, to_cursor
from server.dispatch.call import Call
from server.table.args import Args
from server.table.command import Flags, command
from server.table.documentation import Tip
from storage import types
from storage.glob import match


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
    cursor = to_cursor(call.argv[1])
    options = ScanOptions(Args(call.argv, 2), b"TYPE")
    _leave_expired(call)
    cursor, page = call.db.scan(cursor, min(options.count, len(call.db)))
    found: list[Reply] = []
    for key in page:
        if options.matches(key):
            value = call.db.peek(key)  # an expired key is removed now
            wanted = options.type_name
            if value is not None and (wanted is None or types.of(value).name == wanted):
                found.append(key)
    return [b"%d" % cursor, found]


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
    _leave_expired(call)
    return call.db.random_key()


def _leave_expired(call: Call) -> None:
    """Inside another command, leave expired keys where they are if the configuration says so.

    They are gone for this command all the same. The next one asks again.
    """
    if call.is_inside() and not call.server.config.lazyexpire_nested_arbitrary_keys:
        call.db.events.lookup.hides_expired = True
