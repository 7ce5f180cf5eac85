"""ACL SETUSER and DELUSER."""

from __future__ import annotations

from protocol.replies import OK, ErrorReply, Reply
from server.commands.users.acl import OPERATOR
from server.dispatch.call import Call
from server.table import errors
from server.table.command import command
from server.table.documentation import Tip
from server.users.bad_rule import has_blanks
from server.users.user import UnmatchedParenthesis, joined_rules
from server.users.users import DEFAULT, BadUserRule

EVERYWHERE = [Tip.REQUEST_ALL_NODES, Tip.RESPONSE_ALL_SUCCEEDED]

BAD_NAME = ErrorReply("ERR", "Usernames can't contain spaces or null characters")
DEFAULT_STAYS = ErrorReply("ERR", "The 'default' user cannot be removed")


@command(
    "ACL SETUSER",
    arity=-3,
    flags=OPERATOR,
    group="server",
    since="6.0.0",
    complexity="O(N) where N is the number of rules, and of clients.",
    secrets=lambda argv: range(2, len(argv)),
    tips=EVERYWHERE,
    history=[
        ("6.2.0", "Patterns of channels."),
        ("7.0.0", "Selectors, and patterns of keys to read or to write only."),
    ],
)
def acl_setuser(call: Call) -> Reply:
    """Makes a user, or changes one, by rules: all of them are applied, or none.

    ACL SETUSER username [rule [rule ...]]
    """
    name, words = call.argv[2], call.argv[3:]
    if has_blanks(name):
        raise BAD_NAME
    try:
        call.server.access.change(name, joined_rules(words), call.client)
    except UnmatchedParenthesis as error:
        start = errors.text_of(error.start)
        raise ErrorReply(
            "ERR", f"Unmatched parenthesis in acl selector starting at '{start}'."
        ) from None
    except BadUserRule as error:
        rule = errors.text_of(error.rule, len(error.rule))
        raise ErrorReply("ERR", f"Error in ACL SETUSER modifier '{rule}': {error}") from None
    return OK


@command(
    "ACL DELUSER",
    arity=-3,
    flags=OPERATOR,
    group="server",
    since="6.0.0",
    complexity="O(N) where N is the number of clients.",
    secrets=lambda argv: range(2, len(argv)),
    tips=EVERYWHERE,
)
def acl_deluser(call: Call) -> Reply:
    """Removes users, and disconnects their clients; returns how many users there were.

    ACL DELUSER username [username ...]
    """
    names = call.argv[2:]
    if DEFAULT in names:
        raise DEFAULT_STAYS
    return sum(call.server.access.remove(name, call.client) for name in names)
