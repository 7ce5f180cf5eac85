"""Commands whose request or reply is large, for COMMANDLOG.

The way of a command asks two questions only: has so much come from the client since its last
command was answered, and is the reply so long? What has come may be the beginning of the next
commands, too, so a request is measured when the answer is yes.

Bytes are those of RESP, as in Valkey. What a client gets that has waited is not looked at, nor what
is queued for EXEC.
"""

from __future__ import annotations

from collections.abc import Sequence

from server.client.client import Client
from server.config.parameters import Config
from server.observe.command_log import CommandLog
from server.observe.part import Part
from server.table.command import Command, Flags

SKIP_SLOWLOG = int(Flags.SKIP_SLOWLOG)
NEVER = 2**62  # bytes


class LargeLog(CommandLog):
    """The last commands that were as large as *larger_than* bytes, or larger."""

    larger_than = NEVER

    def limit(self, larger_than: int, most_entries: int) -> None:
        """Take the parameters; below 0, or with no entries, none is added."""
        self._most_entries = most_entries
        is_off = larger_than < 0 or not most_entries
        self.larger_than = NEVER if is_off else larger_than


class LargeCommands(Part):
    """The two logs. *request_from*, *reply_from*: bytes from which a command is to be told."""

    __slots__ = ("replies", "reply_from", "request_from", "requests")

    def __init__(self) -> None:
        self.requests = LargeLog()
        self.replies = LargeLog()
        self.request_from = self.reply_from = NEVER

    def configured(self, config: Config) -> None:
        for log in (self.requests, self.replies):
            log.configured(config)
        self.requests.limit(
            config.commandlog_request_larger_than, config.commandlog_large_request_max_len
        )
        self.replies.limit(
            config.commandlog_reply_larger_than, config.commandlog_large_reply_max_len
        )
        self.request_from = self.requests.larger_than
        self.reply_from = self.replies.larger_than

    def ran(
        self, client: Client, command: Command, argv: list[bytes], reply: int, time_s: int
    ) -> None:
        """*command* of *client* may have been large. Its reply has so many bytes."""
        if command.flags & SKIP_SLOWLOG:
            return
        words = command.without_secrets(argv)
        request = request_size(argv)
        if request >= self.request_from:
            self.requests.add(time_s, request, words, client.address, client.name)
        if reply >= self.reply_from:
            self.replies.add(time_s, reply, words, client.address, client.name)


def request_size(argv: Sequence[bytes]) -> int:
    """How many bytes a command takes in RESP. O(words)."""
    size = len(b"*%d\r\n" % len(argv))
    return size + sum(len(b"$%d\r\n\r\n" % len(word)) + len(word) for word in argv)
