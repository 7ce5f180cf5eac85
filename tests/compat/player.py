"""Plays a case of a script against one server, and records each client's answers."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

from tests.compat.connection import TIMEOUT_S, Connection, encode
from tests.compat.processes import ServerProcess, bulk
from tests.compat.resp import WAITING, Reply
from tests.compat.script import BYTES, CLOSE, QUIET, SEND, Case, Step

_FILL = re.compile(
    rb"\{(?:(?P<client>[A-Z])\.(?P<what>id|addr)"
    rb"|(?P<clock>now|now_ms)(?P<offset>[+-]\d+)?"
    rb"|(?P<piece>[^{}]+)\*(?P<times>\d+))\}"
)
_POLL_S = 0.001  # between two looks at a client that may block


@dataclass(slots=True)
class Answer:
    """The reply to *command* that the client read at *step*."""

    step: Step
    command: list[bytes]
    reply: Reply


class Stuck(Exception):
    """A reply did not come in time."""


class Player:
    """Plays a case against one server. As a context manager it then undoes the case's changes."""

    def __init__(self, server: ServerProcess, protocol: int, now: float) -> None:
        self.server = server
        self.protocol = protocol
        self.now = now
        self.clients: dict[str, Connection] = {}
        self.unanswered: dict[str, list[list[bytes]]] = {}
        self.config: dict[bytes, bytes] = {}
        self.changes_users = False

    def __enter__(self) -> Player:
        self.control = Connection(self.server.port)
        self.control.call(b"FLUSHALL")
        return self

    def __exit__(self, *_: object) -> None:
        for client in self.clients.values():
            client.close()
        self._undo_changes()
        self.control.close()
        if self.config:
            self.server.renew_control()

    def _undo_changes(self) -> None:
        call = self.control.call
        for name, value in self.config.items():
            call(b"CONFIG", b"SET", name, value)
        if self.changes_users:
            call(b"ACL", b"DELUSER", *(b"ann", b"bob"))
            call(b"ACL", b"SETUSER", b"default", *b"reset on nopass ~* &* +@all".split())
            call(b"ACL", b"LOG", b"RESET")
        call(b"CLIENT", b"UNPAUSE")
        call(b"DEBUG", b"SET-ACTIVE-EXPIRE", b"1")
        call(b"FLUSHALL")

    def play(self, case: Case) -> list[Answer]:
        """All answers of *case*, in order."""
        self.remember_config(case)
        return [answer for step in case.steps if (answer := self.step(step))]

    def remember_config(self, case: Case) -> None:
        """Note what *case* sets. At the end parameters get their values back; ann and bob go."""
        for step in case.steps:
            self._remember_config(step.words)
            self.changes_users |= step.words[:1] == [b"ACL"]

    def step(self, step: Step) -> Answer | None:
        """Play one step of a case; the answer that it has read, if any."""
        client = self._client(step.client)
        waiting = self.unanswered[step.client]
        if step.action == CLOSE:
            self._close_client(step.client)
            return None
        if step.words:
            command = [_FILL.sub(self._fill, word) for word in step.words]
            client.send(command[0] if step.action == BYTES else encode(command))
            if step.action == BYTES:
                return None
            waiting.append(command)
            if step.action == SEND:
                self._await_reply_or_block(client)
                return None
        if step.action == QUIET:
            reply = self._reply_or_waiting(client)
            command = waiting[0] if waiting else []
            if reply != WAITING:
                del waiting[:1]
            return Answer(step, command, reply)
        command = waiting.pop(0) if waiting else []
        try:
            return Answer(step, command, client.reply())
        except TimeoutError:
            command_text = b" ".join(step.words).decode("utf-8", "backslashreplace")
            raise Stuck(f"line {step.line}: {step.client}{step.action} {command_text}") from None

    def _client(self, name: str) -> Connection:
        if name not in self.clients:
            self.clients[name] = Connection(self.server.port, self.protocol)
            self.unanswered[name] = []
        return self.clients[name]

    def _fill(self, match: re.Match[bytes]) -> bytes:
        if match["client"]:
            client = self._client(match["client"].decode())
            return b"%d" % (client.id or 0) if match["what"] == b"id" else client.address.encode()
        if match["clock"]:
            now = self.now * (1000 if match["clock"] == b"now_ms" else 1)
            return b"%d" % (int(now) + int(match["offset"] or 0))
        return match["piece"] * int(match["times"])

    def _reply_or_waiting(self, client: Connection) -> Reply:
        """The next reply of *client*, WAITING if there is none after a PING elsewhere."""
        self.control.call(b"PING")
        return client.reply() if client.has_reply() else WAITING

    def _await_reply_or_block(self, client: Connection) -> None:
        """Return when *client* has a reply or is blocked."""
        deadline = time.monotonic() + TIMEOUT_S
        while not client.has_reply(_POLL_S):
            row = self._client_list_line(client)
            if re.search(rb" flags=\w*b", row) or not row:
                return
            if time.monotonic() > deadline:
                raise TimeoutError(f"neither answered nor blocked: {row.decode()}")

    def _close_client(self, name: str) -> None:
        client = self.clients.pop(name)
        del self.unanswered[name]
        client.close()
        deadline = time.monotonic() + TIMEOUT_S
        while self._client_list_line(client):
            if time.monotonic() > deadline:
                raise TimeoutError(f"client {client.id} closed its connection and is still listed")

    def _client_list_line(self, client: Connection) -> bytes:
        """The line of *client* in CLIENT LIST; empty if it is gone."""
        return bulk(self.control.call(b"CLIENT", b"LIST", b"ID", b"%d" % (client.id or 0)))

    def _remember_config(self, words: list[bytes]) -> None:
        if [word.upper() for word in words[:2]] == [b"CONFIG", b"SET"]:
            for name in words[2::2]:
                found = self.control.call(b"CONFIG", b"GET", name)[1]
                if isinstance(found, list) and len(found) == 2:
                    self.config.setdefault(name, bulk(found[1]))
