"""The commands of one request, and their replies as its answer.

    {"commands":[["SET","k","v"],["GET","k"]]}   ->   {"replies":["OK","v"]}

A short answer is sent whole, a long one in pieces that are made while it is sent. A transaction is
MULTI, its commands, and EXEC, whose array is the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from server.console.answers import JSON, NO_STORE, json_response
from server.console.local_client import MOST_REPLY, TOO_LONG, LocalClient
from server.console.refusals import refusal
from server.console.replies import TOGETHER, array_of, error_reply, is_error, pieces
from server.console.runner import Job, Steps, in_database
from server.console.words import Commands
from server.dispatch.command_lookup import CommandLookup
from server.http.messages import Body, Exchange

AT_ONCE = 16 * 1024  # bytes of replies that are made JSON of in one go: about a millisecond

CUT_OFF = error_reply("ERR the session has ended before the answer came: this may have run")
ENDED = error_reply("ERR not run: the session has ended")
FULL = error_reply(
    f"ERR not run: the answer would be longer than {MOST_REPLY // 1024**2} MB, which is the "
    "console's limit"
)
DISCARDED = error_reply("EXECABORT Transaction discarded because of previous errors.")


class Batch(Job):
    """Runs *asked* as *client*, and answers *exchange*."""

    keeps_replies = True

    def __init__(
        self, asked: Commands, lookup: CommandLookup, client: LocalClient, exchange: Exchange
    ) -> None:
        self._asked = asked
        self._lookup = lookup
        self._client = client
        self._exchange = exchange
        self._replies: list[bytes] = []  # in RESP3, one a command
        self._array: bytes | None = None  # or all of them, as EXEC has answered
        self._held = 0  # bytes that count as the client's

    # ------------------------------------------------------------------ running

    def steps(self) -> Steps:
        error = yield from in_database(self._client, self._asked.db)
        if error is not None:
            self._fill(error)
        elif self._asked.is_transaction:
            yield from self._transaction()
        else:
            yield from self._commands()

    def _commands(self) -> Steps:
        for argv in self._asked.commands:
            why_not = refusal(self._lookup, argv)
            if why_not is not None:
                self._replies.append(error_reply(why_not))
            elif self._held > MOST_REPLY:
                self._replies.append(FULL)
            else:
                self._replies.append(self._fitting(self._keep((yield argv))))

    def _fitting(self, reply: bytes) -> bytes:
        """*reply*, if the whole answer is not too long with it."""
        return reply if self._held <= MOST_REPLY else TOO_LONG

    def _transaction(self) -> Steps:
        reasons = [refusal(self._lookup, argv) for argv in self._asked.commands]
        if any(reasons):
            self._replies = [error_reply(why) if why else DISCARDED for why in reasons]
            return
        begun = self._keep((yield [b"MULTI"]))
        if is_error(begun):
            self._fill(begun)
            return
        queued = []
        for argv in self._asked.commands:
            queued.append(self._keep((yield argv)))  # noqa: PERF401  (it yields)
        reply = self._keep((yield [b"EXEC"]))
        if reply[:1] == b"*":
            self._array = reply
        else:  # with an error of EXEC, each command has its own, if it has one
            self._replies = [own if is_error(own) else reply for own in queued]

    def _keep(self, reply: bytes) -> bytes:
        self._held += len(reply)
        return reply

    def _fill(self, reply: bytes) -> None:
        """Let *reply* be the answer to all commands that have none."""
        missing = len(self._asked.commands) - len(self._replies)
        self._replies += [reply] * missing

    # ------------------------------------------------------------------ answering

    def done(self) -> None:
        if self._held <= AT_ONCE and len(self._replies) < TOGETHER // 2:
            self._exchange.respond(json_response(200, "".join(self._text())))
            self._let_go()
        else:
            body = Pieces(self._text(), self._let_go)
            self._exchange.begin(body, JSON, NO_STORE)

    def lost(self, may_have_run: bool) -> None:
        """The connection was closed: by one of the commands, or from outside."""
        if may_have_run and self._asked.is_transaction:
            self._fill(CUT_OFF)
        elif may_have_run and len(self._replies) < len(self._asked.commands):
            self._replies.append(CUT_OFF)
        self._fill(ENDED)
        self.done()

    def _let_go(self) -> None:
        held, self._held = self._held, 0
        self._client.let_go(held)

    def _text(self) -> Iterator[str]:
        yield '{"replies":'
        if self._array is not None:
            yield from pieces(self._array)
        else:
            yield from array_of(self._replies)
        yield "}\n"


class Pieces(Body):
    """A text that is made while it is sent. *let_go* is called when that is over."""

    def __init__(self, texts: Iterator[str], let_go: Callable[[], None]) -> None:
        self._texts = texts
        self._let_go = let_go

    def more(self) -> bytes | None:
        for text in self._texts:
            if text:
                return text.encode()
        return None

    def gone(self) -> None:
        self._texts = iter(())
        self._let_go()
