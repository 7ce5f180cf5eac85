"""ACL WHOAMI, USERS, LIST and GETUSER: which users there are, and what they are."""

from __future__ import annotations

from protocol.replies import Reply, Set
from server.commands.users.acl import ANYBODY, OPERATOR
from server.dispatch.call import Call
from server.table.command import command
from server.users.selector import Selector
from server.users.user import User

EVERY_USER = "O(N) where N is the number of users."
EVERY_RULE = "O(N) where N is the number of rules of the user."


@command("ACL WHOAMI", arity=2, flags=ANYBODY, group="server", since="6.0.0")
def acl_whoami(call: Call) -> Reply:
    """Returns the name of the connection's user.

    ACL WHOAMI
    """
    user: User = call.client.user
    return user.name


@command("ACL USERS", arity=2, flags=OPERATOR, group="server", since="6.0.0", complexity=EVERY_USER)
def acl_users(call: Call) -> Reply:
    """Lists the names of all users.

    ACL USERS
    """
    return [user.name for user in call.server.access.users]


@command("ACL LIST", arity=2, flags=OPERATOR, group="server", since="6.0.0", complexity=EVERY_USER)
def acl_list(call: Call) -> Reply:
    """Lists all users with their rules, as an aclfile has them.

    ACL LIST
    """
    return list(call.server.access.users.lines())


@command(
    "ACL GETUSER",
    arity=3,
    flags=OPERATOR,
    group="server",
    since="6.0.0",
    complexity=EVERY_RULE,
    secrets=lambda argv: [2],
    history=[
        ("6.2.0", "The patterns of channels."),
        ("7.0.0", "Selectors; the patterns of keys and channels are one string."),
    ],
)
def acl_getuser(call: Call) -> Reply:
    """Returns the flags, the hashes of the passwords and the rights of a user.

    ACL GETUSER username
    """
    user = call.server.access.users.named(call.argv[2])
    if user is None:
        return None
    first, *others = user.selectors
    return {
        b"flags": Set(user.flags()),
        b"passwords": list(user.passwords.hashes),
        **_rights(first),
        b"selectors": [_rights(selector) for selector in others],
    }


def _rights(selector: Selector) -> dict[bytes, Reply]:
    return {
        b"commands": selector.commands.description(),
        b"keys": selector.keys.description(),
        b"channels": selector.channels.description(),
    }
