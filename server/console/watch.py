"""Commands that are run again and again; their replies are sent when one of them has changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import blake2b

from server.console.answers import json_text
from server.console.local_client import LocalClient
from server.console.refusals import refusal
from server.console.replies import array_of, error_reply
from server.console.runner import Steps, in_database
from server.console.task import Commands, Task
from server.dispatch.command_lookup import CommandLookup

# Defends the server against a browser that has it send much, again and again.
MOST_BYTES = 256 * 1024  # of all replies of a watch

TOO_LONG = error_reply(f"ERR the answer is longer than a watch may have, {MOST_BYTES // 1024} KB")


class Watch(Task):
    """Runs the commands of *subject*."""

    def __init__(
        self,
        client: LocalClient,
        tell: Callable[[], None],
        subject: Commands,
        lookup: CommandLookup,
    ) -> None:
        super().__init__(client, tell)
        self.subject: Commands = subject
        self._lookup = lookup
        self._replies: list[bytes] | None = None  # that are to be sent
        self._digest = b""  # of the replies that were found last

    @property
    def has_news(self) -> bool:
        return self._replies is not None

    def steps(self) -> Steps:
        replies: list[bytes] = []
        size = 0
        error = yield from in_database(self.client, self.subject.db)
        for words in self.subject.watched.commands:
            argv = list(words)
            why_not = refusal(self._lookup, argv)
            if error is not None or why_not is not None:
                reply = error or error_reply(why_not or "")
            else:
                reply = yield argv
            size += len(reply)
            replies.append(reply if size <= MOST_BYTES else TOO_LONG)
        self._found(replies)

    def _found(self, replies: list[bytes]) -> None:
        digest = blake2b(digest_size=16)
        for reply in replies:
            digest.update(b"%d " % len(reply))
            digest.update(reply)
        if digest.digest() != self._digest:
            self._digest = digest.digest()
            self._replies = replies

    def event(self) -> Iterator[str]:
        replies, self._replies = self._replies or [], None
        return _event(self.subject.watched.name, replies)


def _event(name: str, replies: list[bytes]) -> Iterator[str]:
    yield f'event: watch\ndata: {{"name":{json_text(name)},"replies":'
    yield from array_of(replies)
    yield "}\n\n"
