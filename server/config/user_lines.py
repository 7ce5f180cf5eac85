"""``user`` lines of redis.conf: one for each user, with the rules that ACL SETUSER knows.

    user default on nopass sanitize-payload ~* &* +@all
    user ann on #2bb80d53... ~jobs:* -@all +@stream (%R~* +get)

CONFIG REWRITE writes them again as the users are then. With an aclfile there are none.
"""

from __future__ import annotations

from collections.abc import Iterable

from protocol.inline import UnbalancedQuotes, split_words
from server.config.parameter import BadValue, quoted
from server.users.bad_rule import BadRule, has_blanks
from server.users.user import UnmatchedParenthesis, User, joined_rules
from server.users.users import DEFAULT, Users

DUPLICATE = "Duplicate user found. A user can only be defined once in config files"

UserRules = dict[bytes, list[bytes]]  # of each user, by name


def add_user_line(users: UserRules, words: list[str]) -> None:
    """Add what *words*, after ``user``, say to *users*. Raises BadValue."""
    if not words:
        raise BadValue("bad directive or wrong number of arguments")
    name, *rules = (word.encode("utf-8", "surrogateescape") for word in words)
    if name in users:
        raise _bad(words[0], DUPLICATE)
    if has_blanks(name):
        raise BadValue("Spaces not allowed in ACL usernames")
    try:
        users[name] = joined_rules(rules)
        user_of(name, users[name])
    except UnmatchedParenthesis as error:
        raise _bad(words[0], f"Unmatched parenthesis in '{_text(error.start)}'") from None
    except BadRule as error:
        raise _bad(words[0], str(error)) from None


def user_of(name: bytes, rules: Iterable[bytes], all_channels: bool = False) -> User:
    """The user that *rules* describe; *all_channels* is acl-pubsub-default. Raises BadRule."""
    user = User(name, all_channels)
    for rule in rules:
        user.apply(rule, all_channels)
    return user


def user_lines(users: Users, requirepass: str) -> list[str]:
    """What follows ``user`` in redis.conf, line by line.

    A default user that differs from a new one by requirepass only has no line.
    """
    plain = Users()
    plain.set_default_password(requirepass.encode("utf-8", "surrogateescape"))
    needless = plain.default.description()
    return [
        " ".join(_word(word) for word in [user.name, *user.description().split(b" ")])
        for user in users
        if user.name != DEFAULT or user.description() != needless
    ]


def _word(word: bytes) -> str:
    """*word* as it is or, if it would be read as another one, in quotes."""
    try:
        is_plain = split_words(word) == [word] and word.isascii()
    except UnbalancedQuotes:
        is_plain = False
    return word.decode() if is_plain else quoted(_text(word))


def _bad(name: str, why: str) -> BadValue:
    return BadValue(f"Error in user declaration '{name}': {why}")


def _text(word: bytes) -> str:
    return word.decode("utf-8", "surrogateescape")
