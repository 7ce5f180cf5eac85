"""Why a user may not run a command, and in what words Redis says so.

    a client                  NOPERM No permissions to access a key
    EXEC                      NOPERM ACLs rules changed between the moment ...
    ACL DRYRUN                User ann has no permissions to access the 'jobs:7' key

A client is not told which of its keys or channels is meant. ACL LOG and DRYRUN are for operators.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from protocol.replies import ErrorReply
from server.table import errors

COMMAND: Final = 1
KEY: Final = 2
AUTH: Final = 3
CHANNEL: Final = 4

REASONS = {COMMAND: b"command", KEY: b"key", AUTH: b"auth", CHANNEL: b"channel"}  # in ACL LOG

_SINCE_QUEUED = {
    COMMAND: "no permission to execute the command or subcommand",
    KEY: "no permission to touch the specified keys",
    CHANNEL: "no permission to access one of the channels used as arguments",
}


class Denial(NamedTuple):
    """What is missing. *at* counts the keys or channels of the command; *word* is the one."""

    reason: int
    at: int
    word: bytes

    def refusal(self, user: bytes) -> ErrorReply:
        """The error that a client gets."""
        if self.reason == KEY:
            return ErrorReply("NOPERM", "No permissions to access a key")
        if self.reason == CHANNEL:
            return ErrorReply("NOPERM", "No permissions to access a channel")
        return ErrorReply("NOPERM", self.in_detail(user))

    def refusal_at_exec(self) -> ErrorReply:
        """The error of a command that was queued when it was still allowed."""
        return ErrorReply(
            "NOPERM",
            "ACLs rules changed between the moment the transaction was accumulated and the EXEC"
            " call. This command is no longer allowed for the following reason: "
            + _SINCE_QUEUED[self.reason],
        )

    def in_detail(self, user: bytes) -> str:
        """The reason for an operator, with the command, key or channel."""
        name, word = (errors.text_of(text, len(text)) for text in (user, self.word))
        if self.reason == COMMAND:
            return f"User {name} has no permissions to run the '{word}' command"
        kind = "key" if self.reason == KEY else "channel"
        return f"User {name} has no permissions to access the '{word}' {kind}"
