"""ACL LOG: what was refused to users."""

from __future__ import annotations

from protocol.replies import OK, Reply
from server.commands.users.acl import OPERATOR
from server.dispatch.call import Call
from server.table import errors
from server.table.args import to_int
from server.table.command import command
from server.users.acl_log import Entry

SHOWN = 10  # entries, unless asked for another number


@command(
    "ACL LOG",
    arity=-2,
    flags=OPERATOR,
    group="server",
    since="6.0.0",
    complexity="O(N) where N is the number of entries returned.",
    history=[("7.2.0", "The id of an entry, and the times of its first and last event.")],
)
def acl_log(call: Call) -> Reply:
    """Lists the latest failed logins and refused commands, or forgets them all.

    ACL LOG [count | RESET]
    """
    log = call.server.access.log
    if len(call.argv) > 3:
        raise errors.bad_subcommand("acl", call.argv[1])
    if len(call.argv) == 2:
        return [_shown(entry, call.now_ms) for entry in log.newest(SHOWN)]
    if call.argv[2].upper() == b"RESET":
        log.clear()
        return OK
    return [_shown(entry, call.now_ms) for entry in log.newest(max(to_int(call.argv[2]), 0))]


def _shown(entry: Entry, now_ms: int) -> Reply:
    return {
        b"count": entry.count,
        b"reason": entry.reason,
        b"context": entry.context,
        b"object": entry.object,
        b"username": entry.username,
        b"age-seconds": (now_ms - entry.updated_ms) / 1000,
        b"client-info": entry.client,
        b"entry-id": entry.id,
        b"timestamp-created": entry.created_ms,
        b"timestamp-last-updated": entry.updated_ms,
    }
