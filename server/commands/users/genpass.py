"""ACL GENPASS: a password that nobody can guess."""

from __future__ import annotations

import secrets

from protocol.replies import ErrorReply, Reply
from server.commands.users.acl import ANYBODY
from server.dispatch.call import Call
from server.table import errors
from server.table.args import to_int
from server.table.command import command

DEFAULT_BITS = 256
MOST_BITS = 4096  # as in Redis

BAD_SIZE = ErrorReply(
    "ERR",
    "ACL GENPASS argument must be the number of bits for the output password, a positive number up"
    f" to {MOST_BITS}",
)


@command("ACL GENPASS", arity=-2, flags=ANYBODY, group="server", since="6.0.0")
def acl_genpass(call: Call) -> Reply:
    """Returns a random password in hexadecimal digits, of 256 bits or as many as are asked for.

    ACL GENPASS [bits]
    """
    if len(call.argv) > 3:
        raise errors.bad_subcommand("acl", call.argv[1])
    bits = to_int(call.argv[2]) if len(call.argv) == 3 else DEFAULT_BITS
    if not 0 < bits <= MOST_BITS:
        raise BAD_SIZE
    digits = -(-bits // 4)
    return secrets.token_hex(-(-digits // 2))[:digits].encode()
