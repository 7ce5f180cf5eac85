"""ACL DRYRUN: whether a user might run a command."""

from __future__ import annotations

from protocol.replies import OK, ErrorReply, Reply
from server.commands.users.acl import OPERATOR
from server.dispatch.call import Call
from server.table import errors
from server.table.command import TABLE, command


@command(
    "ACL DRYRUN",
    arity=-4,
    flags=OPERATOR,
    group="server",
    since="7.0.0",
    complexity="O(N) where N is the number of arguments to the command.",
    secrets=lambda argv: range(4, len(argv)),
)
def acl_dryrun(call: Call) -> Reply:
    """Returns OK if a user may run a command, or else the reason; it is not run.

    ACL DRYRUN username command [arg [arg ...]]
    """
    user = call.server.access.users.named(call.argv[2])
    if user is None:
        raise ErrorReply("ERR", f"User '{errors.text_of(call.argv[2])}' not found")
    argv = call.argv[3:]
    row = TABLE.called_by(argv)
    if row is None:
        raise ErrorReply("ERR", f"Command '{errors.text_of(argv[0])}' not found")
    if not row.accepts(len(argv)):
        raise errors.wrong_arity(row.name)
    denial = user.denial(row, argv)
    if denial is None:
        return OK
    return denial.in_detail(user.name).encode("utf-8", "surrogateescape")
