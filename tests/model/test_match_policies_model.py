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

from server.commands.streams.reading import stream_patterns
from server.config.parameters import Config
from tests.server.conftest import NOTHING, SocketlessServer
from tests.worth import rounds

NAMES = ("t:a", "t:b", "t:c")
STREAMS = ("MATCH t:* >", f"STREAMS {' '.join(NAMES)} > > >")
Reader = tuple[str, str]  # the name of a consumer, and what it wants
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
        self.waiters: list[tuple[Any, Any, Reader]] = []  # of each server one
        self.last = 0
        self.backs_off = False  # whether a group has, or had, BACKOFF
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
        replies: list[list[Any]] = [[], []]
        readers = []
        for waiters in list(self.waiters):
            *pair, reader = waiters
            answers = [waiter.reply() for waiter in pair]
            if answers != [NOTHING, NOTHING]:
                self.waiters.remove(waiters)
                readers.append(reader)
                for found, answer, waiter in zip(replies, answers, pair, strict=True):
                    found.append(answer)
                    if answer == NOTHING:  # the other one was given it all
                        waiter.leave()
        if readers:
            are_woken = [any(reply != NOTHING for reply in answers) for answers in replies]
            assert are_woken == [True, True]
            self.read_all(readers, replies)

    def read_all(self, readers: list[Reader], replies: list[list[Any]]) -> None:
        """Read until there is nothing more: a reply by pattern ends after some looks in vain."""
        found = []
        servers = (self.by_pattern, self.by_name)
        for server, streams, had in zip(servers, STREAMS, replies, strict=True):
            parts = [reply for reply in had if reply != NOTHING]
            for name, want in readers:
                parts.append(server.send_line(f"XREADGROUP GROUP g {name} {want} {streams}"))
                while isinstance(parts[-1], list):
                    parts.append(server.send_line(f"XREADGROUP GROUP g {name} {want} {streams}"))
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
        self.backs_off = self.backs_off or "BACKOFF" in policy
        self.both(f"XGROUP CFGSET {key} g {policy}")

    def may_want(self, want: str) -> bool:
        """Whether both servers do the same for who wants that.

        Who looks lets BACKOFF hold what has lapsed; by a pattern, one with WHERE looks only when
        there may be something that it wants.
        """
        return not (self.backs_off and "WHERE" in want)

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
        if self.may_want(want):
            self.read_all([(name, want)], [[], []])
            self.woken()

    @rule(name=consumers, want=wants)
    def wait(self, name: str, want: str) -> None:
        # Who looks at few streams at once leaves the others to the next one who waits.
        is_same = self.waiters == [] or self.waiters[0][2] == (name, want)
        if not self.may_want(want) or len(self.waiters) == 3:
            return
        if not is_same and len(NAMES) >= stream_patterns.LOOKS:
            return
        pair = self.by_pattern.client(), self.by_name.client()
        replies = [
            waiter.send_line(f"XREADGROUP GROUP g {name} {want} BLOCK 0 {streams}")
            for waiter, streams in zip(pair, STREAMS, strict=True)
        ]
        if replies == [NOTHING, NOTHING]:
            self.waiters.append((*pair, (name, want)))
        else:
            self.read_all([(name, want)], [[reply] for reply in replies])
        self.woken()

    @rule()
    def leave(self) -> None:
        if self.waiters:
            by_pattern, by_name, _ = self.waiters.pop(0)
            by_pattern.leave()
            by_name.leave()


TestPolicies = Policies.TestCase
TestPolicies.settings = settings(max_examples=rounds(60), stateful_step_count=40, deadline=None)
