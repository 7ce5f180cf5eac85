"""Readers by a pattern compared with readers by name, where groups have policies.

Whatever the policies are, and whatever happens to the streams, ``MATCH t:*`` gives what ``STREAMS``
with all of their names gives at the same moment: also to who waits, and to who wants other entries
than most (NOACK, WHERE, CLAIM).
"""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from server.commands.streams import stream_patterns
from server.config.parameters import Config
from tests.server.conftest import NOTHING, SocketlessServer
from tests.worth import rounds

NAMES = ("t:a", "t:b", "t:c")
keys = st.sampled_from(NAMES)
consumers = st.sampled_from(("ann", "bob"))
policies = st.sampled_from(
    (
        "VISIBILITY 50",
        "VISIBILITY 50 MAXDELIVERIES 2 DEADLETTER dead MKSTREAM",
        "VISIBILITY 30 BACKOFF 20 70",
        "VISIBILITY 0 BACKOFF 40",
        "RELEASED yes",
        "MAXPENDING 1",
        "MAXPENDING 0",
        "MAXPENDINGPERCONSUMER 1",
        "MAXPENDINGPERCONSUMER 0",
        "ACTIVE 1 TIMEOUT 60",
        "ACTIVE 0",
        "CONSUMERTIMEOUT 100",
        "ORDERBY f",
        "ORDERBY ''",
        "MAXDELIVERIES 1 DEADLETTER string",
    )
)
commands = st.sampled_from(
    (
        "XACK {key} g {id}-0",
        "XNACK {key} g FAIL IDS 1 {id}-0",
        "XNACK {key} g FATAL IDS 1 {id}-0",
        "XCLAIM {key} g {name} 0 {id}-0 IDLE 45 JUSTID",
        "XDEL {key} {id}-0",
        "XGROUP DELCONSUMER {key} g {name}",
        "XGROUP DELCONSUMER {key} g {name} HANDOVER",
        "XGROUP PAUSE {key} g",
        "XGROUP RESUME {key} g",
        "XGROUP RESUME {key} g",
        "DEL string",
        "SET string x",
    )
)
wants = st.sampled_from(("", "", "", "", "NOACK", "WHERE f 1 x", "CLAIM 40"))


def given(replies: list[Any]) -> list[str | tuple[bytes, list[bytes]]]:
    """The entries that replies of XREADGROUP have of each stream, and the refusals."""
    found: dict[bytes, list[bytes]] = {}
    for reply in replies:
        if isinstance(reply, str):
            return [reply]
        for key, entries in reply or ():
            found.setdefault(key, []).extend(entry[0] for entry in entries)
    return sorted(found.items())


class Policies(RuleBasedStateMachine):
    """Two servers are told the same; *by_pattern* is asked with MATCH, *by_name* with STREAMS."""

    def __init__(self) -> None:
        super().__init__()
        self.by_pattern, self.by_name = SocketlessServer(Config()), SocketlessServer(Config())
        self.waiters: tuple[Any, Any] | None = None
        self.last = 0
        self.looks = stream_patterns.LOOKS

    def teardown(self) -> None:
        stream_patterns.LOOKS = self.looks

    def both(self, line: str) -> None:
        """Tell both servers; compare what they answer, and what they give to who waits."""
        found, wanted = self.by_pattern.send_line(line), self.by_name.send_line(line)
        assert repr(found) == repr(wanted)
        self.woken()

    def woken(self) -> None:
        """Compare what was given to who waits, and to who asks for the rest."""
        if self.waiters is None:
            return
        replies = [waiter.reply() for waiter in self.waiters]
        if replies == [NOTHING, NOTHING]:
            return
        self.waiters = None
        self.read_all("ann", "", replies)

    def read_all(self, name: str, want: str, replies: list[Any]) -> None:
        """Read until there is nothing more: a reply by pattern ends after some looks in vain."""
        found = []
        words = f"XREADGROUP GROUP g {name} {want} "
        lines = words + "MATCH t:* >", words + f"STREAMS {' '.join(NAMES)} > > >"
        for server, line, reply in zip(
            (self.by_pattern, self.by_name), lines, replies, strict=True
        ):
            parts = [] if reply == NOTHING else [reply]
            while not parts or isinstance(parts[-1], list):
                parts.append(server.send_line(line))
            found.append(given(parts))
        assert found[0] == found[1]

    @initialize(looks=st.sampled_from((1, 2, 1000)))
    def make(self, looks: int) -> None:
        stream_patterns.LOOKS = looks
        for key in NAMES:
            self.both(f"XGROUP CREATE {key} g 0 MKSTREAM")
        self.both("SET string x")

    @rule(key=keys, value=st.sampled_from("xy"), expires=st.booleans())
    def add(self, key: str, value: str, expires: bool) -> None:
        self.last += 1
        self.both(f"XADD {key} {'EXPIRE 60 ' * expires}{self.last}-0 f {value}")

    @rule(key=keys, policy=policies)
    def set_policy(self, key: str, policy: str) -> None:
        self.both(f"XGROUP CFGSET {key} g {policy}")

    @rule(key=keys, command=commands, back=st.integers(0, 3), name=consumers)
    def disturb(self, key: str, command: str, back: int, name: str) -> None:
        self.both(command.format(key=key, id=max(1, self.last - back), name=name))

    @rule(ms=st.integers(1, 120))
    def wait_a_while(self, ms: int) -> None:
        for server in (self.by_pattern, self.by_name):
            server.advance(ms)
        self.woken()

    @rule(name=consumers, want=wants)
    def read(self, name: str, want: str) -> None:
        self.read_all(name, want, [NOTHING, NOTHING])
        self.woken()

    @rule(name=consumers, want=wants)
    def wait(self, name: str, want: str) -> None:
        if self.waiters is not None:
            return
        self.waiters = self.by_pattern.client(), self.by_name.client()
        words = f"XREADGROUP GROUP g {name} {want} BLOCK 0 "
        self.waiters[0].send_line(words + "MATCH t:* >")
        self.waiters[1].send_line(words + f"STREAMS {' '.join(NAMES)} > > >")
        self.woken()

    @rule()
    def leave(self) -> None:
        if self.waiters is not None:
            for waiter in self.waiters:
                waiter.leave()
            self.waiters = None


TestPolicies = Policies.TestCase
TestPolicies.settings = settings(max_examples=rounds(60), stateful_step_count=40, deadline=None)
