"""A queue with all policies on servers that are killed, restarted, copied and replaced.

Producers, consumers that die, and operators use the group g of the stream s, and the clock jumps,
while the log is rewritten, servers start again from it or from an RDB, the link to the replica is
cut, and the replica is promoted. After each step each entry has gone from where it was to where it
is by a way that there is:

    scheduled --> new --> pending <--> pending --> done       acknowledged
         `---------'---------'-----------'-------> dead       in the dead letters, once
                   `---------'-----------'-------> gone       expired, or given up by RETAIN-...

and each delivery is one that may be: in order, of nothing that is held, owned, done or dead, and
of no more than the group's limits. At the end, when there is a reader and time enough, each entry
is done, dead or gone. tests/model/test_group_policy_model.py says exactly who gets what.
"""

from __future__ import annotations

import copy
import os
from dataclasses import dataclass
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tests.model.queue_deployment import Deployment
from tests.server.conftest import NOTHING, START_MS, SocketlessServer
from tests.worth import rounds

NAMES = ("ann", "bob", "cem")
WANTED = "x"  # the value of k that WHERE names
MANY = 10_000
FAR = 10_000  # units of the log
YEAR_MS = 365 * 86_400_000
EXAMPLES = int(os.environ.get("PENSTOCK_QUEUE_EXAMPLES", rounds(40)))
STEPS = int(os.environ.get("PENSTOCK_QUEUE_STEPS", "40"))

names = st.sampled_from(NAMES)
counts = st.integers(1, 4)

SCHEDULED, NEW, PENDING, DONE, DEAD, GONE = "scheduled", "new", "pending", "done", "dead", "gone"


@dataclass
class Entry:
    """What is known of an entry. All times are those of the server."""

    value: str  # of its field k
    due: int = 0  # when it is added, if it is scheduled
    lasts: int = 0  # ms until it expires; 0: it does not
    place: str = NEW
    entry_id: str = ""
    deadline: int = 0  # when it expires
    owner: str = ""
    count: int = 0
    since: int = 0  # of its last delivery
    until: int = 0  # it is held until then
    is_there: bool = True  # in the stream


@dataclass
class Policy:
    """What operators have said."""

    visibility: int = 0
    waits: tuple[int, ...] = (0,)
    deliveries: int = 0
    most: int = 0
    most_of_one: int = 0
    active: int = 0
    timeout: int = 0
    consumer_timeout: int = 0
    paused: bool = False
    age: int = 0
    length: int = 0
    retains_acked: bool = True
    ordered: bool = False  # ORDERBY k

    def wait(self, count: int) -> int:
        if count < 1 or 0 < self.deliveries <= count:
            return 0
        return self.waits[min(count, len(self.waits)) - 1]

    def words(self) -> str:
        return (
            f"VISIBILITY {self.visibility} BACKOFF {' '.join(map(str, self.waits))}"
            f" MAXDELIVERIES {self.deliveries} MAXPENDING {self.most}"
            f" MAXPENDINGPERCONSUMER {self.most_of_one} ACTIVE {self.active}"
            f" TIMEOUT {self.timeout} CONSUMERTIMEOUT {self.consumer_timeout}"
        )


@dataclass
class Seen:
    """All that the machine knows, but for the servers: it goes back when changes are lost."""

    entries: dict[int, Entry]
    policy: Policy
    last_given: tuple[int, int] = (0, 0)  # the greatest id of a new entry that was given
    fence: int = 0
    active: str = ""


class QueueMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.servers = Deployment(START_MS)
        self.seen = Seen({}, Policy())
        self.added = 0
        self.latest_ms = START_MS  # that a clock has ever shown
        self.last_seen: dict[str, int] = {}  # consumers, since the primary is there
        self.waiter, self.waiting = self.server.client(), ""
        self.released: set[int] = set()  # what this step was to do to entries
        self.acked: set[int] = set()
        self.fatal: set[int] = set()
        self.marks: list[tuple[int, Seen]] = []
        self.redriven = False
        self.has_lost_trimmed = False
        self.was_paused = self.has_jumped = False
        self.send("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM")
        self.send("XADD", "dead", "1-0", "first", "one")
        self.send("XGROUP", "CFGSET", "s", "g", "DEADLETTER", "dead")
        self.end_step()

    # ------------------------------------------------------------------ what is at hand

    @property
    def server(self) -> SocketlessServer:
        return self.servers.primary.server

    @property
    def now(self) -> int:
        return self.server.now_ms

    def send(self, *words: object) -> Any:
        reply = self.server.send(*words)
        assert not str(reply).startswith("-"), (words, reply)
        return reply

    def line(self, line: str) -> Any:
        return self.send(*line.split())

    def in_place(self, *places: str) -> list[int]:
        return [n for n, entry in self.seen.entries.items() if entry.place in places]

    # ------------------------------------------------------------------ producers

    @rule(
        entries=st.integers(1, 3), value=st.sampled_from("xxy"), lasts=st.sampled_from((0, 0, 15))
    )
    def add(self, entries, value, lasts):
        for _ in range(entries):
            self.added += 1
            self.seen.entries[self.added] = Entry(value, 0, lasts, deadline=self.now + lasts)
            expire = f"EXPIRE {lasts}" if lasts else ""
            self.line(f"XADD s {expire} * n {self.added} k {value}")
        self.end_step()

    @rule(delay=st.sampled_from((0, 1, 12, 40)), lasts=st.sampled_from((0, 0, 15)))
    def add_later(self, delay, lasts):
        self.added += 1
        self.seen.entries[self.added] = Entry("x", self.now + delay, lasts, SCHEDULED)
        expire = f"EXPIRE {lasts}" if lasts else ""
        self.line(f"XADD s DELAY {delay} {expire} * n {self.added} k x")
        self.end_step()

    # ------------------------------------------------------------------ consumers

    @rule(name=names, count=counts, where=st.booleans(), fence=st.booleans())
    def read(self, name, count, where, fence):
        words = "WHERE k 1 x " * where + "WITHFENCE " * fence
        line = f"XREADGROUP GROUP g {name} COUNT {count} {words}STREAMS s >"
        self.take(self.line(line), name, WANTED if where else "")
        self.end_step()

    @precondition(lambda self: not self.waiting)
    @rule(name=names, count=counts)
    def wait(self, name, count):
        line = f"XREADGROUP GROUP g {name} COUNT {count} BLOCK 0 STREAMS s >"
        self.server.run(self.waiter.client, line.encode().split())
        self.waiting, self.has_jumped = name, False
        self.last_seen[name] = self.now
        self.end_step()

    @precondition(lambda self: self.waiting and not self.has_jumped)
    @rule()
    def nobody_waits_in_vain(self):
        """Who waits would be given nothing if it asked now."""
        line = f"XREADGROUP GROUP g {self.waiting} COUNT 1 STREAMS s >"
        assert self.line(line) is None
        self.end_step()

    @precondition(lambda self: self.waiting)
    @rule()
    def leave(self):
        """Who waits is killed."""
        self.waiter.leave()
        self.waiter, self.waiting = self.server.client(), ""
        self.end_step()

    @precondition(lambda self: self.in_place(PENDING))
    @rule(data=st.data())
    def acknowledge(self, data):
        some = st.lists(
            st.sampled_from(self.in_place(PENDING)), unique=True, min_size=1, max_size=4
        )
        self.acked = set(data.draw(some))
        ids = [self.seen.entries[n].entry_id for n in self.acked]
        assert self.send("XACK", "s", "g", *ids) == len(ids)
        self.end_step()

    @precondition(lambda self: self.in_place(PENDING))
    @rule(data=st.data())
    def acknowledge_up_to(self, data):
        last = self.seen.entries[data.draw(st.sampled_from(self.in_place(PENDING)))]
        self.acked = {
            n for n in self.in_place(PENDING) if id_of(self.seen.entries[n]) <= id_of(last)
        }
        assert self.send("XACK", "s", "g", "UPTO", last.entry_id) == len(self.acked)
        self.end_step()

    @precondition(lambda self: self.in_place(PENDING))
    @rule(
        data=st.data(),
        mode=st.sampled_from(("SILENT", "FAIL", "FAIL", "FATAL")),
        delay=st.sampled_from((None, None, 0, 5, 20)),
        reason=st.booleans(),
    )
    def release(self, data, mode, delay, reason):
        number = data.draw(st.sampled_from(self.in_place(PENDING)))
        entry = self.seen.entries[number]
        words = [] if delay is None else ["DELAY", delay]
        if reason:
            words += ["REASON", "it failed"]
        self.send("XNACK", "s", "g", mode, "IDS", 1, entry.entry_id, *words)
        is_dead = 0 < self.seen.policy.deliveries <= entry.count
        if mode == "FATAL" or (is_dead and (reason or mode == "FAIL")):
            self.fatal = {number}
        else:
            self.released = {number}
            entry.count -= mode == "SILENT" and entry.count > 0
            wait = 0 if mode == "SILENT" else self.seen.policy.wait(entry.count)
            wait = wait if delay is None else delay
            entry.until = self.now + wait if wait else 0
        self.end_step()

    @precondition(lambda self: self.in_place(PENDING))
    @rule(data=st.data(), ms=st.sampled_from((1, 10, 50)))
    def extend(self, data, ms):
        number = data.draw(st.sampled_from(self.in_place(PENDING)))
        entry = self.seen.entries[number]
        visibility = self.seen.policy.visibility
        if entry.owner and visibility:
            self.send("XEXTEND", "s", "g", entry.owner, ms, entry.entry_id)
            entry.since = self.now + ms - visibility
            self.last_seen[entry.owner] = self.now
        self.end_step()

    @rule(name=names)
    def hand_over(self, name):
        self.released = {n for n, e in self.seen.entries.items() if e.owner == name}
        for number in self.released:
            entry = self.seen.entries[number]
            entry.count -= entry.count > 0
            entry.until = 0
        self.line(f"XGROUP DELCONSUMER s g {name} HANDOVER")
        self.end_step()

    # ------------------------------------------------------------------ operators

    @rule(
        visibility=st.sampled_from((0, 10, 25)),
        waits=st.sampled_from(((0,), (0,), (5,), (3, 20))),
        deliveries=st.sampled_from((0, 1, 2, 5)),
        most=st.sampled_from((0, 0, 1, 3)),
        most_of_one=st.sampled_from((0, 0, 1, 2)),
        active=st.sampled_from((0, 0, 1)),
        consumer_timeout=st.sampled_from((0, 0, 30)),
        ordered=st.sampled_from((False, False, True)),
    )
    def configure(
        self, visibility, waits, deliveries, most, most_of_one, active, consumer_timeout, ordered
    ):
        old = self.seen.policy
        self.seen.policy = Policy(
            visibility, waits, deliveries, most, most_of_one, active, 20 * active,
            consumer_timeout, old.paused, old.age, old.length, old.retains_acked, ordered,
        )  # fmt: skip
        words = self.seen.policy.words().split()
        self.send("XGROUP", "CFGSET", "s", "g", *words, "ORDERBY", "k" if ordered else "")
        self.end_step()

    @rule(age=st.sampled_from((0, 0, 60)), length=st.sampled_from((0, 0, 4)), acked=st.booleans())
    def retain(self, age, length, acked):
        policy = self.seen.policy
        policy.age, policy.length, policy.retains_acked = age, length, acked
        yes = "yes" if acked else "no"
        self.line(f"XCFGSET s RETAIN-AGE {age} RETAIN-LENGTH {length} RETAIN-ACKED {yes}")
        self.end_step()

    @rule()
    def clear(self):
        """The group begins anew after all that there is."""
        self.acked = set(self.in_place(PENDING, NEW))
        self.line("XGROUP SETID s g $ CLEAR")
        self.seen.last_given = max(self.seen.last_given, self.last_id())
        self.end_step()

    def last_id(self) -> tuple[int, int]:
        info = self.line("XINFO STREAM s")
        return id_in(info[info.index(b"last-generated-id") + 1].decode())

    @rule()
    def pause_or_resume(self):
        policy = self.seen.policy
        self.was_paused = policy.paused
        policy.paused = not policy.paused
        self.line(f"XGROUP {'PAUSE' if policy.paused else 'RESUME'} s g")
        self.was_paused = False
        self.end_step()

    @precondition(lambda self: self.in_place(DEAD))
    @rule(count=counts)
    def redrive(self, count):
        self.redriven = True
        self.line(f"XREDRIVE dead COUNT {count}")
        self.end_step()

    # ------------------------------------------------------------------ time

    @rule(ms=st.sampled_from((1, 9, 10, 11, 30)))
    def time_passes(self, ms):
        for _ in range(ms):
            self.server.advance(1)
            self.set_time(self.now)
            self.servers.primary.tick()
            self.end_step(is_quick=True)
        self.end_step()

    @rule(ms=st.sampled_from((-YEAR_MS, -5000, -15, 15, 5000, YEAR_MS)))
    def clock_jumps(self, ms):
        self.set_time(max(self.now + ms, 1))
        self.servers.primary.tick()
        self.has_jumped = True  # who waits has timers by another clock
        self.end_step()

    def set_time(self, now_ms: int) -> None:
        self.servers.set_time(now_ms)
        self.latest_ms = max(self.latest_ms, now_ms)

    # ------------------------------------------------------------------ servers

    @rule()
    def get_all(self):
        """The link was cut for a while, and the replica gets the rest."""
        self.catch_up()

    @rule()
    def get_a_copy(self):
        """The link was cut for too long."""
        self.full_resync()

    def catch_up(self) -> None:
        self.servers.catch_up()
        self.mark()

    def full_resync(self) -> None:
        self.servers.full_resync()
        self.mark()

    @rule(by_commands=st.booleans())
    def rewrite(self, by_commands):
        self.servers.rewrite(by_commands)

    @rule()
    def kill_and_restart(self):
        self.has_lost_trimmed = True  # if the log was rewritten without an RDB in front
        self.servers.restart_from_log()
        self.another_primary()
        self.full_resync()

    @rule()
    def restart_from_rdb(self):
        self.servers.restart_from_rdb()
        self.another_primary()
        self.catch_up()

    @rule(data=st.data())
    def lose_the_primary(self, data):
        """REPLICAOF NO ONE, after a crash: what the replica has not got never was."""
        units, seen = data.draw(st.sampled_from(self.marks))
        self.servers.promote(units)
        self.seen = copy.deepcopy(seen)
        self.another_primary()

    @rule()
    def fail_over(self):
        """FAILOVER: the replica has all when it takes over."""
        self.servers.catch_up()
        self.servers.promote()
        self.another_primary()

    def another_primary(self) -> None:
        self.waiter, self.waiting = self.server.client(), ""
        self.last_seen = {}
        self.end_step()

    # ------------------------------------------------------------------ deliveries

    def take(self, reply: Any, name: str, wanted: str = "") -> None:
        """*name* was given what is in *reply*, the value of k in all of it being *wanted*."""
        self.last_seen[name] = self.now
        if reply is None or reply is NOTHING:
            return
        assert not self.seen.policy.paused or self.was_paused
        given = []
        for row in reply[0][1]:
            fields = dict(zip(row[1][::2], row[1][1::2], strict=True))
            number = int(fields[b"n"])
            assert not wanted or fields[b"k"].decode() == wanted
            self.give(number, row[0].decode(), name)
            given.append(number)
        self.check_limits(name)
        if self.seen.policy.ordered:
            self.check_order(given)

    def check_order(self, given: list[int]) -> None:
        """What was given comes after all that is left of its value, or with it."""
        owners = {row[0].decode(): row[1] for row in self.line(f"XPENDING s g - + {MANY}")}
        stream = {row[0].decode() for row in self.line("XRANGE s - +")}
        for number in given:
            entry = self.seen.entries[number]
            for before, other in self.seen.entries.items():
                left = other.entry_id in owners and other.entry_id in stream
                if left and other.value == entry.value and id_of(other) < id_of(entry):
                    assert before in given, (number, before)

    def give(self, number: int, entry_id: str, name: str) -> None:
        """A delivery, and why it may be."""
        policy, entry = self.seen.policy, self.seen.entries[number]
        if entry.place in (SCHEDULED, NEW) or (entry.place == DEAD and self.redriven):
            assert entry.place != SCHEDULED or entry.due <= self.now
            entry.entry_id = entry_id
            assert id_of(entry) > self.seen.last_given, "it was given before, or out of order"
            self.seen.last_given = id_of(entry)
            entry.count = 0
            if entry.place == DEAD:
                entry.lasts = entry.deadline = 0
        else:
            assert entry.place == PENDING, (number, entry)
            assert self.may_come_again(number, entry), (number, entry, self.now)
            # What goes back with one before it was not delivered.
            assert not 0 < policy.deliveries <= entry.count - policy.ordered, (number, entry)
        assert not entry.deadline or entry.deadline > self.now or not entry.lasts
        entry.place, entry.owner, entry.count = PENDING, name, entry.count + 1
        entry.since, entry.until = self.now, 0

    def may_come_again(self, number: int, entry: Entry) -> bool:
        policy = self.seen.policy
        if not entry.owner or number in self.released:
            return entry.until <= self.now
        if self.has_another_turn() or self.is_silent(entry.owner, policy.consumer_timeout):
            return True
        lapse = policy.visibility + policy.wait(entry.count)
        return policy.visibility > 0 and self.now - entry.since >= lapse

    def is_silent(self, name: str, timeout: int) -> bool:
        return timeout > 0 and self.now - self.last_seen.get(name, -YEAR_MS) >= timeout

    def has_another_turn(self) -> bool:
        """Whether another consumer has become active in this step."""
        fence: int = self.settings()[b"fence"]
        return fence > self.seen.fence

    def settings(self) -> dict[bytes, Any]:
        shown = self.line("XGROUP CFGGET s g")
        return dict(zip(shown[::2], shown[1::2], strict=True))

    def check_limits(self, name: str) -> None:
        policy = self.seen.policy
        if policy.active:
            assert self.settings()[b"activeconsumer"].decode() == name

    # ------------------------------------------------------------------ the end of a step

    def end_step(self, is_quick: bool = False) -> None:
        """Look where everything is, and whether it may be there."""
        self.is_well = False  # until it is seen that it is
        if self.waiting:
            reply = self.waiter.reply()
            if reply is not NOTHING:
                name, self.waiting = self.waiting, ""
                self.take(reply, name)
        self.servers.take_units()
        if not is_quick or self.added < 12:
            self.look()
        self.released, self.acked, self.fatal = set(), set(), set()
        self.redriven = self.has_lost_trimmed = False
        self.is_well = True
        self.mark()

    def mark(self) -> None:
        """Remember what is known now, for a replica that gets no more than is on its way."""
        units = len(self.servers.link)
        self.marks = [mark for mark in self.marks if mark[0] < units]
        if not self.marks or units - self.marks[-1][0] < FAR:
            self.marks.append((units, copy.deepcopy(self.seen)))

    def look(self) -> None:
        stream = {row[0].decode(): row[1] for row in self.line("XRANGE s - +")}
        pending = {row[0].decode(): row for row in self.line(f"XPENDING s g - + {MANY}")}
        scheduled = {int(row[1][1]) for row in self.line("XSCHEDULED s")}
        group = self.line("XINFO GROUPS s")[0]
        last = id_in(group[group.index(b"last-delivered-id") + 1].decode())
        letters: dict[int, list[bytes]] = {}
        for row in self.line("XRANGE dead - +")[1:]:
            number = int(row[1][1])
            assert number not in letters, "it is dead twice"
            letters[number] = row[1]
        for entry_id, fields in stream.items():
            entry = self.seen.entries[int(fields[1])]
            if entry.entry_id != entry_id:  # it has been added now
                entry.entry_id = entry_id
                entry.deadline = id_in(entry_id)[0] + entry.lasts if entry.due else entry.deadline
        for number, entry in self.seen.entries.items():
            old = entry.place
            is_there = entry.entry_id in stream
            if number in letters:
                place = DEAD
                assert entry.entry_id not in pending, (number, "dead and pending")
            elif number in scheduled:
                place = SCHEDULED
            elif entry.entry_id in pending:
                place = PENDING
            elif not is_there:
                place = GONE if old != DONE else DONE
            else:
                place = NEW if id_in(entry.entry_id) > last else DONE
            row = pending.get(entry.entry_id)
            self.check_way(number, entry, place, row, letters.get(number))
            if old == DEAD != place:
                entry.lasts = entry.deadline = 0
            entry.place, entry.is_there = place, is_there
            if place == PENDING:
                assert row is not None
                entry.owner, entry.count = row[1].decode(), row[3]
            else:
                entry.owner = ""
        shown = self.settings()
        assert shown[b"fence"] >= self.seen.fence
        self.check_turn(shown[b"activeconsumer"].decode(), shown[b"fence"])

    def check_turn(self, active: str, fence: int) -> None:
        """Whether that consumer may be the active one, with that number."""
        was, timeout = self.seen.active, self.seen.policy.timeout
        if active not in ("", was):
            assert fence > self.seen.fence
            names = [row[1].decode() for row in self.line("XINFO CONSUMERS s g")]
            assert was not in names or was not in self.last_seen or self.is_silent(was, timeout)
            assert was not in names or was != self.waiting
        self.seen.fence, self.seen.active = fence, active

    def check_way(self, number, entry, place, row, letter) -> None:
        """Whether an entry may go where it is now."""
        policy, old, what = self.seen.policy, entry.place, (number, entry, place, row, letter)
        is_over = entry.lasts > 0 and entry.deadline <= self.now
        ways = {(SCHEDULED, NEW): entry.due <= self.now}
        waits = policy.ordered and row is not None and row[1] == b"" and row[3] == 0
        ways[NEW, PENDING] = ways[SCHEDULED, PENDING] = waits
        ways[NEW, DONE] = entry.value != WANTED or number in self.acked  # by WHERE, or CLEAR
        ways[SCHEDULED, DONE] = entry.value != WANTED
        ways[PENDING, DONE] = number in self.acked
        ways[PENDING, DEAD] = (
            number in self.fatal or is_over or 0 < policy.deliveries <= entry.count
        )
        ways[NEW, DEAD] = ways[SCHEDULED, DEAD] = is_over or entry.lasts > 0
        ways[DEAD, NEW] = ways[DEAD, DONE] = self.redriven
        ways[DEAD, PENDING] = self.redriven and waits
        is_given_up = policy.age > 0 or policy.length > 0 or is_over
        ways[NEW, GONE] = is_given_up or (policy.retains_acked and entry.value != WANTED)
        ways[SCHEDULED, GONE] = ways[NEW, GONE] or entry.lasts > 0
        # What was trimmed leaves the group when it lapses, or with a log of commands only.
        ways[PENDING, GONE] = (
            is_given_up or number in self.acked or not entry.is_there or self.has_lost_trimmed
        )
        ways[DEAD, GONE] = self.redriven and is_given_up
        assert old == place or ways.get((old, place), False), what
        if place == PENDING and old == PENDING:
            owner = row[1].decode()
            is_taken_back = policy.ordered and owner == "" != entry.owner
            assert row[3] in (entry.count, entry.count - policy.ordered), what
            if owner != entry.owner:
                assert owner == "", what
                is_lapsed = is_taken_back or self.may_be_released(entry)
                assert number in self.released or is_lapsed, what
        if place == DEAD and old != DEAD and not is_over:
            assert letter[letter.index(b"dead-deliveries") + 1] == b"%d" % entry.count, what

    def may_be_released(self, entry: Entry) -> bool:
        """Whether nobody has it any more, without a command that says so."""
        policy = self.seen.policy
        lapsed = policy.visibility > 0 and self.now - entry.since >= policy.visibility
        if lapsed and any(policy.waits):
            entry.until = entry.since + policy.visibility + policy.wait(entry.count)
            return True
        entry.until = 0
        return self.has_another_turn() or self.is_silent(entry.owner, policy.consumer_timeout)

    @invariant()
    def what_is_pending_is_consistent(self):
        group = self.servers.primary.databases[0].table.get(b"s").find_group(b"g")
        assert sum(len(c.pel) for c in group.consumers.values()) + group.released() == len(
            group.pel
        )

    # ------------------------------------------------------------------ the end

    def teardown(self) -> None:
        """With a reader, and time enough, each entry is done, dead or gone."""
        if not self.is_well:
            return
        self.servers.catch_up()
        self.set_time(self.latest_ms + YEAR_MS)
        self.servers.primary.tick()
        policy = self.seen.policy
        self.line("XGROUP RESUME s g")
        policy.paused = False
        if policy.active or policy.most or policy.most_of_one or policy.visibility:
            policy.visibility = policy.visibility or 10
        self.seen.policy.visibility = policy.visibility or 10
        self.line(f"XGROUP CFGSET s g VISIBILITY {policy.visibility}")
        self.end_step()
        for _ in range(60):
            for _ in range(3):
                self.server.advance(40)
                self.set_time(self.now)
                self.servers.primary.tick()
                self.end_step()
            self.take(self.line("XREADGROUP GROUP g end COUNT 100 STREAMS s >"), "end")
            self.end_step()
            mine = [n for n in self.in_place(PENDING) if self.seen.entries[n].owner == "end"]
            self.acked = set(mine)
            if mine:
                self.send("XACK", "s", "g", *[self.seen.entries[n].entry_id for n in mine])
            self.end_step()
            if not self.in_place(SCHEDULED, NEW, PENDING):
                break
        left = self.in_place(SCHEDULED, NEW, PENDING)
        assert not left, [(n, self.seen.entries[n]) for n in left]
        self.servers.catch_up()


def id_in(text: str) -> tuple[int, int]:
    ms, _, seq = text.partition("-")
    return int(ms), int(seq)


def id_of(entry: Entry) -> tuple[int, int]:
    return id_in(entry.entry_id)


QueueMachine.TestCase.settings = settings(
    max_examples=EXAMPLES, stateful_step_count=STEPS, deadline=None
)
TestQueueDeployment = QueueMachine.TestCase


def test_a_replica_that_gets_a_release_late_holds_what_its_primary_holds() -> None:
    """Its clock was past the time of the release; when it had released, the clock was set back."""
    servers = Deployment(START_MS)
    for line in (
        "XADD s 1-0 k x",
        "XGROUP CREATE s g 0",
        "XREADGROUP GROUP g ann STREAMS s >",
        "XNACK s g FAIL IDS 1 1-0 DELAY 5",
    ):
        servers.primary.server.send_line(line)
    servers.take_units()
    servers.set_time(START_MS + 9)
    servers.catch_up()
    servers.set_time(START_MS - 1000)
    servers.catch_up()
