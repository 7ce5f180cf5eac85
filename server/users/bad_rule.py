"""Why a rule of ACL SETUSER is refused, in Redis's words."""

from __future__ import annotations


class BadRule(Exception):
    """A word of a user's description is not a rule, or cannot be applied; the message says why."""


class UnknownCommand(BadRule):
    """The rule names a command or a category that there is not."""

    def __init__(self) -> None:
        super().__init__("Unknown command or category name in ACL")


SYNTAX = "Syntax error"
FIRST_WORD_OF_SUBCOMMAND = "Allowing first-arg of a subcommand is not supported"
NO_HASH = (
    "The password hash must be exactly 64 characters and contain only lowercase hexadecimal"
    " characters"
)
NO_SUCH_PASSWORD = "The password you are trying to remove from the user does not exist"  # noqa: S105
KEYS_NEEDLESS = (
    "Adding a pattern after the * pattern (or the 'allkeys' flag) is not valid and does not have"
    " any effect. Try 'resetkeys' to start with an empty list of patterns"
)
CHANNELS_NEEDLESS = (
    "Adding a pattern after the * pattern (or the 'allchannels' flag) is not valid and does not"
    " have any effect. Try 'resetchannels' to start with an empty list of channels"
)

BLANKS = frozenset(b" \t\n\v\f\r\0")


def has_blanks(word: bytes) -> bool:
    """Whether *word* holds a byte that ends words in a file of users."""
    return not BLANKS.isdisjoint(word)
