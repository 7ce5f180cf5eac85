"""ACL itself, and what its subcommands have in common."""

from __future__ import annotations

from protocol.replies import Reply
from server.dispatch.call import Call
from server.table.command import TABLE, Flags, command, container

ANYBODY = Flags.NOSCRIPT | Flags.LOADING | Flags.STALE
OPERATOR = ANYBODY | Flags.ADMIN

container("ACL", group="server", since="6.0.0", summary="Shows and changes users.")


@command("ACL HELP", arity=2, flags=Flags.LOADING | Flags.STALE, group="server", since="6.0.0")
def acl_help(call: Call) -> Reply:
    """Lists the subcommands.

    ACL HELP
    """
    return TABLE.help_of(b"acl")
