"""XREADGROUP and XREAD with WHERE compared with a reader that takes one entry after the other.

The twin reads each entry without WHERE, those that do not match with NOACK. After
each step both have the same entries, pending entries and counters; and so has a server that was
sent what the first one has logged, as a replica or a loaded AOF would be.
"""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from server.commands.streams.reading import stream_request
from server.config.parameters import Config
from tests.server.conftest import SocketlessServer
from tests.worth import rounds

texts = st.sampled_from(("a", "b", "1", "01", "-5", "300", "70000", "x" * 70, ""))
names = st.sampled_from(("f", "g", "7", "n" * 80))
fields = st.lists(st.tuples(names, texts), min_size=1, max_size=4)
conditions = st.tuples(names, st.lists(texts, min_size=1, max_size=3))
counts = st.integers(0, 3)
groups = st.sampled_from(("g", "h"))


def words_of(condition: tuple[str, list[str]]) -> list[object]:
    name, values = condition
    return ["WHERE", name, len(values), *values]


def matches(entry: list[bytes], condition: tuple[str, list[str]]) -> bool:
    name, values = condition
    wanted = [value.encode() for value in values]
    pairs = zip(entry[::2], entry[1::2], strict=True)
    return any(field == name.encode() and value in wanted for field, value in pairs)


def entries(reply: Any) -> list[Any]:
    return [] if reply is None else reply[0][1]


class Where(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.whole_looks = stream_request.LOOKS
        self.servers = [SocketlessServer(Config()) for _ in range(3)]
        self.server, self.twin, self.replica = self.servers
        self.last = 0
        self.both("CONFIG", "SET", "stream-node-max-entries", 4)
        for name in ("g", "h"):
            self.both("XGROUP", "CREATE", "s", name, "0", "MKSTREAM")
            self.both("XGROUP", "CREATECONSUMER", "s", name, "c")

    def teardown(self) -> None:
        stream_request.LOOKS = self.whole_looks

    def both(self, *words: object) -> Any:
        replies = [server.send(*words) for server in (self.server, self.twin)]
        assert replies[0] == replies[1]
        return replies[0]

    @rule(fields=fields)
    def add(self, fields: list[tuple[str, str]]) -> None:
        self.last += 1
        self.both("XADD", "s", f"{self.last}-0", *(text for pair in fields for text in pair))

    @rule(fields=fields, times=st.integers(1, 6))
    def add_alike(self, fields: list[tuple[str, str]], times: int) -> None:
        for _ in range(times):
            self.add(fields)

    @rule(ms=st.integers(1, 30))
    def delete(self, ms: int) -> None:
        self.both("XDEL", "s", f"{ms}-0")

    @rule(length=st.integers(0, 10))
    def trim(self, length: int) -> None:
        self.both("XTRIM", "s", "MAXLEN", length)

    @rule(group=groups, ms=st.integers(0, 30))
    def set_back(self, group: str, ms: int) -> None:
        self.both("XGROUP", "SETID", "s", group, f"{ms}-0")

    @rule(group=groups, ms=st.integers(1, 30))
    def acknowledge(self, group: str, ms: int) -> None:
        self.both("XACK", "s", group, f"{ms}-0")

    @rule(looks=st.sampled_from((1, 2, 5, 20_000)))
    def look_less(self, looks: int) -> None:
        stream_request.LOOKS = looks

    @rule(group=groups, condition=conditions, count=counts, noack=st.booleans())
    def read(self, group: str, condition: tuple[str, list[str]], count: int, noack: bool) -> None:
        words = ["XREADGROUP", "GROUP", group, "c", "COUNT", count, *words_of(condition)]
        words += ["NOACK"] if noack else []
        given = entries(self.server.send(*words, "STREAMS", "s", ">"))
        # It may have looked at a part only, if it has found something there.
        wanted: list[Any] = []
        position = self.position(self.server, group)
        while self.position(self.twin, group) != position:
            at = b"(" + self.position(self.twin, group)
            (entry,) = self.twin.send("XRANGE", "s", at, "+", "COUNT", 1)
            plain = ["XREADGROUP", "GROUP", group, "c", "COUNT", 1]
            if matches(entry[1], condition):
                wanted.append(entry)
            if noack or not matches(entry[1], condition):
                plain.append("NOACK")
            assert entries(self.twin.send(*plain, "STREAMS", "s", ">")) == [entry]
        assert given == wanted
        assert count == 0 or len(given) <= count
        assert given or self.is_at_end(group)

    def position(self, server: SocketlessServer, group: str) -> bytes:
        for row in server.send("XINFO", "GROUPS", "s"):
            shown = dict(zip(row[::2], row[1::2], strict=True))
            if shown[b"name"] == group.encode():
                return bytes(shown[b"last-delivered-id"])
        raise AssertionError(group)

    def is_at_end(self, group: str) -> bool:
        return not self.server.send("XRANGE", "s", b"(" + self.position(self.server, group), "+")

    @rule(condition=conditions, after=st.integers(0, 30), count=counts)
    def look(self, condition: tuple[str, list[str]], after: int, count: int) -> None:
        words = ["XREAD", "COUNT", count, *words_of(condition), "STREAMS", "s", f"{after}-0"]
        given = entries(self.server.send(*words))
        wanted = [
            entry
            for entry in self.twin.send("XRANGE", "s", f"({after}-0", "+")
            if matches(entry[1], condition)
        ]
        assert given == wanted[: len(given)]
        assert bool(given) == bool(wanted)
        if count or stream_request.LOOKS == 20_000:
            assert len(given) <= (count or len(wanted))

    @invariant()
    def both_are_alike(self) -> None:
        for line in self.server.logged():
            self.replica.send(*line.split(b" "))
        for name in ("g", "h"):
            self.both("XPENDING", "s", name, "-", "+", 100)
        shown = self.both("XINFO", "GROUPS", "s")
        assert self.replica.send("XINFO", "GROUPS", "s") == shown


TestWhere = Where.TestCase
TestWhere.settings = settings(max_examples=rounds(60), stateful_step_count=40, deadline=None)
