"""Readers by a pattern compared with a naive model: nothing is lost, nothing is given twice.

Streams are made, removed, renamed, replaced and flushed while groups read them by patterns, with
and without waiting. After each step, what a group has not read yet is what the model says.
"""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from server.config.parameters import Config
from server.parts.waiting import pattern_reads
from tests.server.conftest import NOTHING, SocketlessServer
from tests.worth import rounds

keys = st.sampled_from(("t:a", "t:b", "t:c", "u:a", "other"))
patterns = st.sampled_from((("t:*",), ("*:a",), ("t:*", "u:*")))
counts = st.integers(0, 3)


def matches(pattern: tuple[str, ...], key: str) -> bool:
    if pattern == ("*:a",):
        return key.endswith(":a")
    return any(key.startswith(one[:2]) for one in pattern)


def found(reply: Any) -> list[tuple[str, str]]:
    return [(row[0].decode(), entry.decode()) for row in reply or [] for entry in row[1]]


class Match(RuleBasedStateMachine):
    """Of each stream the model has the ids that the group g, made by MKGROUP, has not read."""

    def __init__(self) -> None:
        super().__init__()
        self.server = SocketlessServer(Config())
        self.last = 0
        self.left: dict[str, list[str]] = {}
        self.made: set[str] = set()  # the streams that have the group
        self.waiters: list[tuple[Any, tuple[str, ...], int]] = []
        self.ticks = 0

    def unread(self, pattern: tuple[str, ...]) -> dict[str, list[str]]:
        return {key: ids for key, ids in self.left.items() if matches(pattern, key)}

    @rule(key=keys)
    def add(self, key: str) -> None:
        self.last += 1
        reply = self.server.send("XADD", key, f"{self.last}-0", "f", "v")
        if not str(reply).startswith("-"):
            self.left.setdefault(key, []).append(f"{self.last}-0")
        self.serve()

    @rule(key=keys)
    def remove(self, key: str) -> None:
        self.server.send("DEL", key)
        self.left.pop(key, None)

    @rule(key=keys)
    def put_a_string(self, key: str) -> None:
        self.server.send("SET", key, "x")
        self.left.pop(key, None)

    @rule(key=keys, to=keys)
    def rename(self, key: str, to: str) -> None:
        if self.server.send("RENAME", key, to) == "OK" or key not in self.left:
            pass
        if self.server.send("EXISTS", to) and key != to:
            ids = self.left.pop(key, None)
            if self.server.send("TYPE", to) == b"stream":
                if ids is not None:
                    self.left[to] = ids
            else:
                self.left.pop(to, None)
        self.serve()

    @rule()
    def flush(self) -> None:
        self.server.send("FLUSHALL")
        self.left = {}

    @rule()
    def swap(self) -> None:
        self.server.send("SWAPDB", 0, 1)
        self.server.send("SWAPDB", 0, 1)

    @rule()
    def forget_readers(self) -> None:
        for _ in range(2):
            self.ticks += pattern_reads.KEPT_MS
            self.server.state.blocking.patterns.tick(self.ticks)

    @rule(pattern=patterns, count=counts, most=counts)
    def read(self, pattern: tuple[str, ...], count: int, most: int) -> None:
        words: list[object] = ["XREADGROUP", "GROUP", "g", "c", "COUNT", min(count, most or 9)]
        words += ["MAXCOUNT", most] if most else []
        given = found(self.server.send(*words, "NOFIELDS", "MKGROUP", "MATCH", *pattern, ">"))
        self.take(given, pattern, min(count, most or 9), most)

    def take(
        self, given: list[tuple[str, str]], pattern: tuple[str, ...], count: int, most: int
    ) -> None:
        """The model gives what the server has given; it must be the first of each stream."""
        unread = self.unread(pattern)
        assert not most or len(given) <= most
        assert bool(given) == any(unread.values())
        for key in {key for key, _ in given}:
            ids = [entry for at, entry in given if at == key]
            assert ids == unread[key][: len(ids)]
            assert not count or len(ids) <= count
            del self.left[key][: len(ids)]
        if not most and not count:
            assert not any(self.unread(pattern).values())

    @rule(pattern=patterns)
    def wait(self, pattern: tuple[str, ...]) -> None:
        client = self.server.client()
        words = ["XREADGROUP", "GROUP", "g", "c", "BLOCK", 0, "NOFIELDS", "MKGROUP", "MATCH"]
        reply = client.send(*words, *pattern, ">")
        if reply == NOTHING:
            assert not any(self.unread(pattern).values())
            self.waiters.append((client, pattern, 0))
        else:
            self.take(found(reply), pattern, 0, 0)

    @rule()
    def leave(self) -> None:
        if self.waiters:
            self.waiters.pop(0)[0].leave()

    def serve(self) -> None:
        """Those who wait have been given what came, the first one all of it."""
        for waiter in list(self.waiters):
            client, pattern, _ = waiter
            reply = client.reply()
            if reply != NOTHING:
                self.waiters.remove(waiter)
                self.take(found(reply), pattern, 0, 0)

    @invariant()
    def nobody_waits_for_what_is_there(self) -> None:
        for _, pattern, _ in self.waiters:
            assert not any(self.unread(pattern).values())


TestMatch = Match.TestCase
TestMatch.settings = settings(max_examples=rounds(60), stateful_step_count=40, deadline=None)
