"""Scheduled entries and jobs compared with a naive model: what is added, when, and in which order.

Entries may expire, too. The model keeps plain lists. Clients schedule and unschedule, streams are
renamed and deleted, time passes, stands still and goes back, and the server is started again from
its RDB file, its AOF, or a rewritten AOF without an RDB in front, at random. After each step both
have added the same entries, and both have the same left to add.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import hiredis
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from server.config.parameters import Config
from server.parts.persistence.log_commands import CommandPieces
from storage.side_data.schedule import SCHEDULE
from storage.snapshot.filler import Filler
from storage.snapshot.snapshot_reader import SnapshotReader
from storage.snapshot.snapshot_writer import SnapshotWriter
from tests.server.conftest import START_MS, SocketlessServer
from tests.worth import rounds

KEYS = (b"a", b"b")
NAMES = ("j", "k")

keys = st.sampled_from(KEYS)
names = st.sampled_from(NAMES)
delays = st.sampled_from((0, 1, 5, 5, 20, 1000))
lives = st.sampled_from((0, 0, 2, 10, 900))
times = st.sampled_from((0, 1, 4, 30, 2000))
intervals = st.sampled_from((1, 3, 10, 700))
rows = st.integers(0, 30)


@dataclass
class Stream:
    """What one key should have. *last* is its last id; *number* that of its last scheduled one."""

    entries: list[tuple[tuple[int, int], str]] = field(default_factory=list)
    scheduled: list[tuple[int, int, str]] = field(default_factory=list)  # due, number, value
    expires: dict[str, int] = field(
        default_factory=dict
    )  # how long an entry is there, by its value
    deadlines: dict[tuple[int, int], int] = field(default_factory=dict)
    jobs: dict[str, tuple[int, int, str]] = field(default_factory=dict)  # next, every, value
    last: tuple[int, int] = (0, 0)
    number: int = 0

    def add(self, due: int, value: str) -> None:
        self.last = (due, 0) if due > self.last[0] else (self.last[0], self.last[1] + 1)
        self.entries.append((self.last, value))
        if value in self.expires:
            self.deadlines[self.last] = due + self.expires[value]

    def expire(self, now: int) -> None:
        """Remove what has expired by *now*."""
        for entry in list(self.entries):
            if self.deadlines.get(entry[0], now + 1) <= now:
                self.entries.remove(entry)
                del self.deadlines[entry[0]]

    def catch_up(self, now: int) -> None:
        """Add what is due by *now*: of equal times entries before jobs."""
        while True:
            row = min(self.scheduled, default=None)
            job = min(((job[0], name) for name, job in self.jobs.items()), default=None)
            if row is not None and row[0] <= now and (job is None or row[0] <= job[0]):
                self.scheduled.remove(row)
                self.add(row[0], row[2])
            elif job is not None and job[0] <= now:
                at, every, value = self.jobs[job[1]]
                self.add(at, value)
                while at <= now:
                    at += every
                self.jobs[job[1]] = (at, every, value)
            else:
                self.expire(now)
                return


class ScheduleMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.server = SocketlessServer(Config())
        self.now = START_MS
        self.model: dict[bytes, Stream] = {}
        self.values = 0
        self.log: list[list[bytes]] = []  # what an AOF would have

    def value(self) -> str:
        self.values += 1
        return str(self.values)

    def at(self, key: bytes) -> Stream:
        return self.model.setdefault(key, Stream())

    # ------------------------------------------------------------------ what clients do

    @rule(key=keys, delay=delays, expire=lives)
    def delay(self, key, delay, expire):
        value, stream = self.value(), self.at(key)
        stream.number += 1
        stream.scheduled.append((self.now + delay, stream.number, value))
        words = self.expiry(stream, value, expire)
        reply = self.server.send("XADD", key, "DELAY", delay, *words, "*", "v", value)
        assert reply == b"%d-%d" % (self.now + delay, stream.number)

    def expiry(self, stream, value, expire):
        """The words that have the entry expire."""
        if not expire:
            return ()
        stream.expires[value] = expire
        return ("EXPIRE", expire)

    @rule(key=keys, expire=lives)
    def add(self, key, expire):
        value, stream = self.value(), self.at(key)
        words = self.expiry(stream, value, expire)
        stream.add(self.now, value)
        self.server.send("XADD", key, *words, "*", "v", value)

    @rule(key=keys, row=rows)
    def unschedule(self, key, row):
        stream = self.model.get(key)
        if stream is None or not stream.scheduled:
            assert self.server.send("XUNSCHEDULE", key, "5-1") == 0
            return
        due, number, _ = stream.scheduled.pop(row % len(stream.scheduled))
        scheduled_id = b"%d-%d" % (due, number)
        assert self.server.send("XUNSCHEDULE", key, scheduled_id) == 1
        assert self.server.send("XUNSCHEDULE", key, scheduled_id) == 0

    @rule(key=keys, name=names, every=intervals)
    def schedule(self, key, name, every):
        value = self.value()
        jobs = self.at(key).jobs
        goes_on = name in jobs and jobs[name][1] == every
        first = jobs[name][0] if goes_on else self.now + every
        jobs[name] = (first, every, value)
        reply = self.server.send("XSCHEDULE", key, name, "EVERY", every, "*", "v", value)
        assert reply == first

    @rule(key=keys, name=names, delay=delays)
    def move(self, key, name, delay):
        stream = self.model.get(key)
        reply = self.server.send("XSCHEDULE", key, name, "NEXT", self.now + delay)
        if stream is None or name not in stream.jobs:
            assert reply is None
        else:
            stream.jobs[name] = (self.now + delay, *stream.jobs[name][1:])

    @rule(key=keys, name=names)
    def drop(self, key, name):
        stream = self.model.get(key)
        gone = stream is not None and stream.jobs.pop(name, None) is not None
        assert self.server.send("XUNSCHEDULE", key, "NAMES", name) == gone

    @rule()
    def rename(self):
        if b"a" in self.model:
            self.model[b"b"] = self.model.pop(b"a")
            assert self.server.send_line("RENAME a b") == b"OK"

    @rule(key=keys)
    def delete(self, key):
        assert self.server.send("DEL", key) == (self.model.pop(key, None) is not None)

    # ------------------------------------------------------------------ time

    @rule(ms=times)
    def pass_time(self, ms):
        self.now += ms
        self.server.advance(ms)
        for stream in self.model.values():
            stream.catch_up(self.now)

    @rule(ms=times)
    def set_back(self, ms):
        self.now -= ms
        self.server.now_ms -= ms

    # ------------------------------------------------------------------ restarts

    def started(self) -> SocketlessServer:
        """A new server at the same time, which logs from then on."""
        made = SocketlessServer(Config())
        made.now_ms = self.now
        made.turn()
        return made

    @rule(ms=times)
    def start_from_rdb(self, ms):
        data = b"".join(SnapshotWriter(self.server.state.databases, {}))
        self.now += ms
        started = self.started()
        filler, reader = Filler(started.state.databases, self.now), SnapshotReader(data)
        while filler.fill(reader):
            pass
        self.began(started)

    @rule(ms=times)
    def start_from_aof(self, ms):
        self.note_log()
        self.now += ms
        started = self.started()
        for words in self.log:
            started.dispatcher.replaying.replay(started.owner.client, list(words))
        self.began(started)

    @rule(ms=times)
    def start_from_rewritten_aof(self, ms):
        commands = hiredis.Reader()
        for piece in CommandPieces(self.server.state.databases, []):
            commands.feed(piece)
        self.log = []
        while (words := commands.gets()) is not False:
            self.log.append(words)
        self.server.log.units.clear()
        self.start_from_aof(ms)

    def began(self, started: SocketlessServer) -> None:
        """What became due meanwhile is added at once, in order."""
        digest = self.server.send_line("DEBUG DIGEST")
        assert started.send_line("DEBUG DIGEST") == digest
        self.note_log()
        self.server = started
        started.log.units.clear()
        started.advance(0)
        for stream in self.model.values():
            stream.catch_up(self.now)

    def note_log(self) -> None:
        for unit in self.server.log.units:
            self.log += [words for _, words in unit]
        self.server.log.units.clear()

    # ------------------------------------------------------------------ what must hold

    @invariant()
    def both_have_added_the_same(self):
        for key in KEYS:
            stream = self.model.get(key, Stream())
            found = self.server.send("XRANGE", key, "-", "+")
            assert [(row[0], row[1][1]) for row in found] == [
                (b"%d-%d" % entry_id, value.encode()) for entry_id, value in stream.entries
            ]

    @invariant()
    def both_have_the_same_left_to_add(self):
        for key in KEYS:
            stream = self.model.get(key, Stream())
            found = self.server.send("XSCHEDULED", key, "COUNT", 1000)
            assert [(row[0], row[1][1]) for row in found] == [
                (b"%d-%d" % (due, number), value.encode())
                for due, number, value in sorted(stream.scheduled)
            ]
            jobs = self.server.send("XSCHEDULES", key)
            assert [(row[1].decode(), row[5], row[3], row[7][1].decode()) for row in jobs] == [
                (name, *stream.jobs[name]) for name in sorted(stream.jobs)
            ]

    @invariant()
    def the_agenda_knows_what_is_first(self):
        dues = []
        for key, side in self.server.state.databases[0].side.items():
            schedule = side.get(SCHEDULE)
            if schedule.first_due() < 2**62:
                dues.append((schedule.first_due(), 0, key))
        assert self.server.state.agenda.first() == min(dues, default=None)
        assert len(self.server.state.agenda) == len(dues)


TestSchedule = ScheduleMachine.TestCase
TestSchedule.settings = settings(max_examples=rounds(60), stateful_step_count=40, deadline=None)
