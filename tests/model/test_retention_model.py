"""Streams with a policy compared with a naive model: what stays, what goes, and when.

Producers add and delete, groups read and acknowledge, come and go, the clock moves, also back, the
policy changes, cron does a slice or a whole round, and the server starts again from an RDB or a
rewritten log, at random. After a whole round the very entries are there that the model has; after a
slice, no entry is missing that has no reason to go. A follower that gets what is logged, and never
gives up anything by itself, always has the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from server.config.parameters import Config
from server.lifecycle.retention import Retention
from server.parts.persistence.log_commands import CommandPieces
from storage.snapshot.filler import Filler
from storage.snapshot.snapshot_reader import SnapshotReader
from storage.snapshot.snapshot_writer import SnapshotWriter
from tests.server.conftest import SocketlessServer
from tests.worth import rounds

GROUPS = ("g", "h")

groups = st.sampled_from(GROUPS)
values = st.sampled_from(("a", "b", "c", "d", ""))


@dataclass
class Group:
    """*last*: up to where it was given entries; *pending*: those that it has not acknowledged."""

    last: int = 0
    pending: set[int] = field(default_factory=set)

    def needs(self, number: int) -> bool:
        return number > self.last or number in self.pending


class Model:
    """Entries are known by the ms of their ids; *alive* has their values."""

    def __init__(self) -> None:
        self.alive: dict[int, str] = {}
        self.groups: dict[str, Group] = {}
        self.age = self.length = self.min_age = 0
        self.acked = self.compacts = False

    def is_free(self, number: int) -> bool:
        needed = any(group.needs(number) for group in self.groups.values())
        return self.acked and bool(self.groups) and not needed

    def is_due(self, number: int, now: int) -> bool:
        """Whether an entry is there to COMPACT."""
        return not self.min_age or now - number >= self.min_age

    def has_reason(self, number: int, now: int) -> bool:
        """Whether an entry may go now."""
        newer = [value for other, value in self.alive.items() if other > number]
        due = [v for n, v in self.alive.items() if n > number and self.is_due(n, now)]
        value = self.alive[number]
        return (
            (self.age > 0 and now - number >= self.age)
            or (0 < self.length <= len(newer))
            or self.is_free(number)
            or (self.compacts and value != "" and value in due)
        )

    def round(self, now: int) -> None:
        """Have all go that do at this time."""
        if self.age:
            self._keep([number for number in self.alive if now - number < self.age])
        while self.alive and self.is_free(min(self.alive)):
            del self.alive[min(self.alive)]
        if self.length:
            self._keep(sorted(self.alive)[-self.length :])
        self._keep([number for number in self.alive if not self.is_free(number)])
        if self.compacts:
            due = [n for n in self.alive if self.is_due(n, now)]
            newest = {self.alive[number]: number for number in due}
            kept = [
                number
                for number, value in self.alive.items()
                if value == "" or number not in due or newest[value] == number
            ]
            self._keep(kept)

    def _keep(self, numbers: list[int]) -> None:
        self.alive = {number: self.alive[number] for number in sorted(numbers)}


class RetentionMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        self.seconds = 0.0
        self.now_s = 0.0
        self.last = 0
        self.start()
        self.server.send_line("CONFIG SET stream-node-max-entries 3")
        self.server.send_line("XGROUP CREATE s g 0 MKSTREAM")
        self.model.groups["g"] = Group()
        self.add(["a", "b", "", "a", "c", "b", "a", "d"])
        self.configure(0, 0, True, False, 0)

    # ------------------------------------------------------------------ servers

    def start(self) -> None:
        """A server without data, and a follower."""
        self.server = SocketlessServer(Config())
        self.server.send_line("CONFIG SET stream-node-max-entries 3")
        self.retention = Retention(self.server.state, self.monotonic_s)
        self.follower = SocketlessServer(Config())
        self.follow = self.follower.dispatcher.replaying.begin()

    def monotonic_s(self) -> float:
        self.now_s += self.seconds
        return self.now_s

    def send(self, *words: object) -> object:
        return self.server.send(*words)

    def take_logged(self) -> None:
        for unit in self.server.log.units:
            for _, words in unit:
                assert self.follow(list(words)) == "", words
        self.server.log.units.clear()

    @rule(by_rdb=st.booleans())
    def restart(self, by_rdb):
        now_ms, databases = self.server.now_ms, self.server.state.databases
        data = b"".join(SnapshotWriter(databases, {}))
        commands = list(CommandPieces(databases)._commands())
        self.start()
        self.server.now_ms = self.follower.now_ms = now_ms
        for server in (self.server, self.follower):
            server.turn()
            if by_rdb:
                filler, reader = Filler(server.state.databases, 0), SnapshotReader(data)
                while filler.fill(reader):
                    pass
            else:
                replay = server.dispatcher.replaying.begin()
                for words in commands:
                    assert replay(list(words)) == "", words
        self.server.log.units.clear()
        if not by_rdb:  # as in Redis, what is pending is lost with its entry
            for group in self.model.groups.values():
                group.pending &= set(self.model.alive)

    # ------------------------------------------------------------------ clients

    @rule(some=st.lists(values, min_size=3, max_size=12))
    def add(self, some):
        for value in some:
            number = max(self.last + 1, self.server.now_ms)
            self.send("XADD", "s", f"{number}-0", *(("k", value) if value else ("n", "x")), "m", 1)
            self.model.alive[number] = value
            self.last = number

    @precondition(lambda self: len(self.model.alive) > 3)
    @rule(data=st.data())
    def delete(self, data):
        number = data.draw(st.sampled_from(sorted(self.model.alive)))
        assert self.send("XDEL", "s", f"{number}-0") == 1
        del self.model.alive[number]

    @rule(most=st.sampled_from((0, 10, 20, 20, 30)))
    def trim(self, most):
        self.send("XTRIM", "s", "MAXLEN", most)
        for number in sorted(self.model.alive)[: max(0, len(self.model.alive) - most)]:
            del self.model.alive[number]

    @rule(name=groups, count=st.integers(1, 6), noack=st.booleans())
    def deliver(self, name, count, noack):
        if name in self.model.groups:
            self.read(name, count, noack)

    @rule(name=groups, data=st.data())
    def acknowledge(self, name, data):
        group = self.model.groups.get(name)
        if group is None or not group.pending:
            return
        some = data.draw(st.lists(st.sampled_from(sorted(group.pending)), unique=True, max_size=5))
        for number in some:
            assert self.send("XACK", "s", name, f"{number}-0") == 1
            group.pending.remove(number)

    @rule(count=st.integers(3, 9), keeps=st.integers(0, 3))
    def work(self, count, keeps):
        """All groups read and acknowledge, but for one entry each."""
        for name, group in self.model.groups.items():
            self.read(name, count, noack=False)
            done = [number for at, number in enumerate(sorted(group.pending)) if at != keeps]
            for number in done:
                assert self.send("XACK", "s", name, f"{number}-0") == 1
                group.pending.remove(number)
        self.whole_round()

    def read(self, name: str, count: int, noack: bool) -> None:
        group = self.model.groups[name]
        line = f"XREADGROUP GROUP {name} c COUNT {count}{' NOACK' * noack} STREAMS s >"
        self.server.send_line(line)
        for number in [n for n in sorted(self.model.alive) if n > group.last][:count]:
            group.last = number
            if not noack:
                group.pending.add(number)

    @rule(name=groups)
    def make_or_destroy_group(self, name):
        if name in self.model.groups:
            self.send("XGROUP", "DESTROY", "s", name)
            del self.model.groups[name]
        else:
            self.send("XGROUP", "CREATE", "s", name, "0")
            self.model.groups[name] = Group()

    @rule(name=groups)
    def drop_consumer(self, name):
        group = self.model.groups.get(name)
        if group is not None:
            self.send("XGROUP", "DELCONSUMER", "s", name, "c")
            group.pending.clear()

    @rule(name=groups)
    def set_back(self, name):
        group = self.model.groups.get(name)
        if group is not None:
            self.send("XGROUP", "SETID", "s", name, "0")
            group.last = 0

    # ------------------------------------------------------------------ operators

    @rule(
        age=st.sampled_from((0, 0, 0, 20, 100)),
        length=st.sampled_from((0, 0, 0, 4, 9)),
        acked=st.sampled_from((True, True, False)),
        compacts=st.booleans(),
        min_age=st.sampled_from((0, 0, 5, 30)),
    )
    def configure(self, age, length, acked, compacts, min_age):
        model = self.model
        model.min_age = min_age
        model.age, model.length, model.acked, model.compacts = age, length, acked, compacts
        self.send(
            "XCFGSET", "s", "RETAIN-AGE", age, "RETAIN-LENGTH", length,
            "RETAIN-ACKED", "yes" if acked else "no", "COMPACT", "k" if compacts else "",
            "MIN-AGE", min_age,
        )  # fmt: skip

    @rule(ms=st.sampled_from((1, 5, 10, 20, -5, -50)))
    def time_passes(self, ms):
        self.server.now_ms += ms
        self.server.turn()

    # ------------------------------------------------------------------ cron

    def go_on(self) -> None:
        self.retention.go_on()
        self.server.state.propagation.deliver_each()

    @rule()
    def whole_round(self):
        self.seconds = 0.0
        self.retention.begin()
        while not self.retention.is_done:
            self.server.turn(self.go_on)
        self.server.state.stream_compaction.tick(0)
        self.model.round(self.server.now_ms)
        assert self.shown() == list(self.model.alive)

    @rule()
    def one_slice(self):
        self.seconds = 1.0
        self.retention.begin()
        self.server.turn(self.go_on)
        left = self.shown()
        now = self.server.now_ms
        gone = [number for number in self.model.alive if number not in set(left)]
        assert all(self.model.has_reason(number, now) for number in gone)
        assert set(left) <= set(self.model.alive)
        self.model._keep(left)

    def shown(self) -> list[int]:
        return [int(row[0].split(b"-")[0]) for row in self.server.send_line("XRANGE s - +")]

    # ------------------------------------------------------------------ what must hold

    @invariant()
    def the_model_has_what_is_there(self):
        assert self.shown() == list(self.model.alive)
        for name, group in self.model.groups.items():
            assert self.server.send_line(f"XPENDING s {name}")[0] == len(group.pending)

    @invariant()
    def bytes_are_those_of_the_nodes(self):
        stream = self.server.state.databases[0].table.get(b"s")
        assert stream.node_bytes() == sum(node.size for _, node in stream.rax)

    @invariant()
    def a_follower_has_the_same(self):
        self.take_logged()
        lines = ["XRANGE s - +", "XCFGGET s", "XLEN s"]
        lines += [f"XPENDING s {name} - + 1000" for name in self.model.groups]
        for line in lines:
            here, there = self.server.send_line(line), self.follower.send_line(line)
            if line.startswith("XPENDING"):  # without the times
                here, there = ([row[:2] for row in rows] for rows in (here, there))
            assert here == there


RetentionMachine.TestCase.settings = settings(
    max_examples=rounds(150), stateful_step_count=50, deadline=None
)
TestRetention = RetentionMachine.TestCase
