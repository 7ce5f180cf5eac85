"""ACL itself, what its subcommands have in common, and CAT: the categories of commands."""

from __future__ import annotations

from protocol.replies import ErrorReply, Reply
from server.dispatch.call import Call
from server.table import errors
from server.table.command import Flags, command, container, container_help
from server.users.command_rights import CATEGORIES, all_commands

ANYBODY = Flags.NOSCRIPT | Flags.LOADING | Flags.STALE
OPERATOR = ANYBODY | Flags.ADMIN

container("ACL", group="server", since="6.0.0", summary="Shows and changes users.")


container_help("ACL", group="server", since="6.0.0")


@command(
    "ACL CAT",
    arity=-2,
    flags=ANYBODY,
    group="server",
    since="6.0.0",
    complexity="O(N) where N is the number of commands.",
)
def acl_cat(call: Call) -> Reply:
    """Lists the categories of commands, or the commands of one of them.

    ACL CAT [category]
    """
    if len(call.argv) > 3:
        raise errors.bad_subcommand("acl", call.argv[1])
    if len(call.argv) == 2:
        return [category.encode() for category in CATEGORIES]
    wanted = call.argv[2].decode("latin-1").lower()
    if wanted not in CATEGORIES:
        raise ErrorReply("ERR", f"Unknown category '{errors.text_of(call.argv[2])}'")
    return [row.name.encode() for row in all_commands() if wanted in row.acl]
