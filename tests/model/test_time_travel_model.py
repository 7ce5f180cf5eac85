"""A server that has travelled is the same as one on which the time has really passed.

Two servers get the same commands. On one the system's clocks run, and its expiry cycle removes
what is due; on the other they stand still, and DEBUG CLOCK moves the server's clock as far.
"""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from server.config.parameters import Config
from server.parts.expiry.expiry_sweep import sweep
from tests.server.conftest import SocketlessClient, SocketlessServer
from tests.worth import rounds

KEY = st.sampled_from(["a", "b", "c"])
SECONDS = st.integers(1, 5)

COMMANDS = st.one_of(
    st.builds("SET {} v EX {}".format, KEY, SECONDS),
    st.builds("EXPIRE {} {}".format, KEY, SECONDS),
    st.builds("HSET h {} v".format, KEY),
    st.builds("HEXPIRE h {1} FIELDS 1 {0}".format, KEY, SECONDS),
    st.builds("RPUSH list-{} v".format, KEY),
    st.just("XADD s * f v"),
    st.just("XREADGROUP GROUP g ann COUNT 1 STREAMS s >"),
    st.builds("XAUTOCLAIM s g bob {}000 0 COUNT 1".format, SECONDS),
    st.just("XTRIM s MINID 1700000002000"),
    st.builds("CLIENT PAUSE {}000 WRITE".format, SECONDS),
    st.sampled_from(["DBSIZE", "TIME", "XINFO STREAM s FULL", "XPENDING s g", "SLOWLOG LEN"]),
    st.builds("PTTL {}".format, KEY),
    st.builds("OBJECT IDLETIME {}".format, KEY),
    st.builds("HPTTL h FIELDS 1 {}".format, KEY),
)
WAITS = st.one_of(
    st.builds("BLPOP list-{} {}".format, KEY, st.integers(0, 5)),
    st.builds("XREADGROUP GROUP g eve BLOCK {}000 STREAMS s >".format, st.integers(0, 5)),
    st.builds("WAIT 1 {}000".format, SECONDS),
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("run"), COMMANDS),
        st.tuples(st.just("wait"), WAITS),
        st.tuples(st.just("pass"), st.integers(0, 6000)),
    ),
    max_size=30,
)


class Side:
    """One of the servers; *lets_pass* makes so many ms pass on it."""

    def __init__(self, lets_pass: Callable[[SocketlessServer, int], None]) -> None:
        config = Config()
        config.save = []
        config.enable_debug_command = "yes"
        config.slowlog_log_slower_than = 10_000_000  # us: a busy machine is not what is tested
        self.server = SocketlessServer(config)
        self._lets_pass = lets_pass
        self._runner = self.server.client()
        self._waiters: list[SocketlessClient] = []
        self.server.send_line("XGROUP CREATE s g 0 MKSTREAM")

    def step(self, kind: str, what: str | int) -> object:
        """Do it; what everybody has got by then."""
        if kind == "pass":
            self._lets_pass(self.server, int(what))
            answer: object = None
        elif kind == "wait":
            self._waiters.append(self.server.client())
            answer = self._waiters[-1].send_line(str(what))
        elif self._runner.client.postponed is None:
            answer = self._runner.send_line(str(what))
        else:
            answer = self._runner.reply()
        others = [waiter.reply() for waiter in self._waiters]
        return (
            answer,
            others,
            sorted(self.server.logged()),
        )  # keys of one moment expire in any order


def pass_really(server: SocketlessServer, ms: int) -> None:
    server.advance(ms)
    if not server.state.pausing.active:
        for _ in sweep(server.state.databases, server.state.events.clock):
            pass
        server.state.propagation.deliver_each()
        server.turn()


def travel(server: SocketlessServer, ms: int) -> None:
    assert server.send_line(f"DEBUG CLOCK +{ms}ms")[0] == b"offset-ms"


@settings(max_examples=rounds(200), deadline=None)
@given(STEPS)
def test_a_server_that_has_travelled_is_the_same_as_one_that_has_waited(steps) -> None:
    waited, travelled = Side(pass_really), Side(travel)
    for kind, what in steps:
        assert waited.step(kind, what) == travelled.step(kind, what)
