"""The text of an aclfile: a line for each user, as ACL LIST shows them.

    user default on nopass sanitize-payload ~* &* +@all
    user ann on sanitize-payload #2bb80d53... ~jobs:* resetchannels -@all +@stream

Words are separated by one blank. There are no comments and no quotes; blank lines are left out.
"""

from __future__ import annotations

from server.users.bad_rule import BadRule, UnknownCommand
from server.users.user import UnmatchedParenthesis, User, joined_rules

NOTHING_CHANGED = (
    "WARNING: ACL errors detected, no change to the previously active ACL rules was performed"
)


class BadAclFile(Exception):
    """The text has errors; the message names all of them, but none of the passwords."""


def users_in(text: bytes, name: str, all_channels: bool) -> list[User]:
    """The users of *text*, which is that of the file *name*. Raises BadAclFile.

    *all_channels* is acl-pubsub-default. O(bytes).
    """
    users: dict[bytes, User] = {}
    errors: list[str] = []
    for number, line in enumerate(text.split(b"\n"), 1):
        line = line.strip(b" \t\r\n")  # noqa: PLW2901
        if line:
            errors += _read_line(line, f"{name}:{number}", users, all_channels)
    if errors:
        raise BadAclFile("".join(errors) + NOTHING_CHANGED)
    return list(users.values())


def _read_line(line: bytes, where: str, users: dict[bytes, User], all_channels: bool) -> list[str]:
    """Add the user of *line* to *users*; the errors, in Redis's words."""
    keyword, *words = line.split(b" ")
    if keyword != b"user" or not words:
        return [f"{where} should start with user keyword followed by the username. "]
    name, *rules = words
    if name in users:
        number = where.rpartition(":")[2]
        return [f"WARNING: Duplicate user '{_text(name)}' found on line {number}. "]
    user = users[name] = User(name, all_channels)
    try:
        joined = joined_rules(rules)
    except UnmatchedParenthesis:
        return [f"{where}: Unmatched parenthesis in selector definition."]
    errors: list[str] = []
    has_other = False
    for rule in joined:
        try:
            user.apply(rule, all_channels)
        except UnknownCommand as error:
            errors.append(f"{where}: Error in applying operation '{_text(rule)}': {error}. ")
        except BadRule as error:  # the rule may hold a password: it is not shown
            if not has_other:
                errors.append(f"{where}: {error}. ")
            has_other = True
    return errors


def _text(word: bytes) -> str:
    return word.decode("utf-8", "surrogateescape")
