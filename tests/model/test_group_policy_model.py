"""A group with a policy compared with a naive model: who gets which entry, again, or never.

The model keeps plain lists. Consumers read, wait, acknowledge, release, die and come back, and time
passes, at random. After each step both have delivered the same, the same is pending, and each entry
is in one place: new, pending, acknowledged, or a dead letter. Of those who wait each looks for
itself in the model, in the order in which they blocked; in the server one looks for others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from server.config.parameters import Config
from tests.server.conftest import NOTHING, START_MS, SocketlessClient, SocketlessServer
from tests.worth import rounds

NAMES = ("ann", "bob", "cem")
MOST_WAITING = 5

names = st.sampled_from(NAMES)
counts = st.integers(1, 4)
times = st.sampled_from((0, 0, 10, 25))
limits = st.sampled_from((0, 0, 1, 2, 5))
waits = st.sampled_from(((0,), (0,), (5,), (3, 20), (0, 7)))


@dataclass
class Pending:
    """An entry that was delivered: *owner* is empty once it was released.

    *until*: what was released is held until then.
    """

    number: int
    owner: str
    delivered: int
    count: int = 1
    until: int = 0


class Model:
    """What must hold, as simply as possible."""

    def __init__(self) -> None:
        self.now = 0
        self.visibility = self.deliveries = self.most = self.most_of_one = 0
        self.waits: tuple[int, ...] = (0,)
        self.paused = False
        self.held: list[Pending] = []
        self.new: list[int] = []
        self.pending: list[Pending] = []  # in the order in which they may be claimed
        self.acked: list[int] = []
        self.dead: list[int] = []
        self.noted: dict[int, int] = {}  # when what was delivered again was delivered first
        self.first_of_dead: list[int] = []  # 0: not known

    def note(self, entry: Pending) -> None:
        """*entry* is about to be delivered again, or released."""
        if self.deliveries and entry.count == 0:
            self.noted.pop(entry.number, None)
        elif self.deliveries and entry.count == 1 and entry.owner:
            self.noted.setdefault(entry.number, entry.delivered)

    def bury(self, entry: Pending) -> None:
        is_first = entry.count == 1 and entry.owner
        first = self.noted.pop(entry.number, entry.delivered if is_first else None)
        self.dead.append(entry.number)
        self.first_of_dead.append(0 if first is None or not entry.count else START_MS + first)

    def is_idle(self, entry: Pending) -> bool:
        if not entry.owner:
            return True
        return self.visibility > 0 and self.now - entry.delivered >= self.visibility

    def is_dead(self, entry: Pending) -> bool:
        return 0 < self.deliveries <= entry.count

    def read(self, name: str, count: int) -> list[int]:
        """What *name* gets: what comes again, and then new entries."""
        if self.paused:
            return []
        given: list[int] = []
        gives_again = self.visibility or any(self.waits)
        if gives_again:
            self.ripen()
        if self.visibility:
            self.let_lapse()
        at = 0  # after what is left for others
        for entry in list(self.pending) if gives_again else []:
            if not self.is_idle(entry) or len(given) == count:
                break
            self.pending.remove(entry)
            if self.is_dead(entry):
                self.bury(entry)
                continue
            if entry.owner != name and not self.room_of_one(name):
                self.pending.insert(at, entry)
                at += 1
                continue
            self.note(entry)
            self.pending.append(Pending(entry.number, name, self.now, entry.count + 1))
            given.append(entry.number)
        while self.new and len(given) < count and self.room(name):
            number = self.new.pop(0)
            self.pending.append(Pending(number, name, self.now))
            given.append(number)
        return given

    def wait(self, count: int) -> int:
        if count == 0 or 0 < self.deliveries <= count:
            return 0
        return self.waits[min(count, len(self.waits)) - 1]

    def ripen(self) -> None:
        """What was held until now comes after what was released."""
        ripe = [entry for entry in self.held if entry.until <= self.now]
        for entry in sorted(ripe, key=lambda entry: (entry.until, entry.number)):
            self.held.remove(entry)
            self._insert_released(entry)

    def let_lapse(self) -> None:
        """What was not acknowledged in time is held for a while."""
        for entry in list(self.pending):
            due = entry.delivered + self.visibility + self.wait(entry.count)
            if entry.owner and self.is_idle(entry) and self.wait(entry.count) and due > self.now:
                self.note(entry)
                self.pending.remove(entry)
                self.held.append(Pending(entry.number, "", 0, entry.count, due))

    def everything_pending(self) -> list[Pending]:
        return self.pending + self.held

    def room(self, name: str) -> bool:
        if self.most and len(self.everything_pending()) >= self.most:
            return False
        return self.room_of_one(name)

    def room_of_one(self, name: str) -> bool:
        mine = [entry for entry in self.pending if entry.owner == name]
        return not self.most_of_one or len(mine) < self.most_of_one

    def release(self, entry: Pending, uncounted: bool, delay: int | None = None) -> None:
        """It has no owner: it comes after those released before, and ahead of all others.

        It is held for *delay*, or as long as the group says.
        """
        self.note(entry)
        self.forget(entry)
        count = max(0, entry.count - uncounted)
        if delay is None:
            delay = 0 if uncounted else self.wait(count)
        if delay:
            self.held.append(Pending(entry.number, "", 0, count, self.now + delay))
        else:
            self._insert_released(Pending(entry.number, "", 0, count))

    def _insert_released(self, entry: Pending) -> None:
        released = [other for other in self.pending if not other.owner]
        self.pending.insert(len(released), entry)

    def forget(self, entry: Pending) -> None:
        (self.held if entry in self.held else self.pending).remove(entry)


class Waiting(NamedTuple):
    """A client that waits as the consumer *name* for *most* entries."""

    client: SocketlessClient
    name: str
    most: int


class GroupPolicyMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.server = SocketlessServer(Config())
        self.server.send_line("XGROUP CREATE s g 0 MKSTREAM")
        self.server.send_line("XADD dead 1-0 first one")
        self.server.send_line("XGROUP CFGSET s g DEADLETTER dead")
        self.model = Model()
        self.added = 0
        self.waiting: list[Waiting] = []

    def settle(self) -> None:
        """Whoever waits gets what there is, the oldest first; and then what that leaves."""
        given: dict[Waiting, list[int]] = {}
        while True:
            before = len(given)
            for each in self.waiting:
                if each not in given and (numbers := self.model.read(each.name, each.most)):
                    given[each] = numbers
            if len(given) == before:
                break
        for each in self.waiting:
            reply = each.client.reply()
            assert (numbers_of(reply) if reply is not NOTHING else []) == given.get(each, [])
        self.waiting = [each for each in self.waiting if each not in given]

    @initialize(visibility=times, waiting=st.lists(st.tuples(names, counts), max_size=3))
    def begin_waiting(self, visibility, waiting):
        """Most of what goes wrong needs several that wait, and entries that come back."""
        self.configure(visibility, (0,), 0, 0, 0)
        for name, count in waiting:
            self.wait(name, count)

    # ------------------------------------------------------------------ what clients do

    @rule(entries=st.integers(1, 3))
    def add(self, entries):
        for _ in range(entries):
            self.added += 1
            self.server.send("XADD", "s", f"{self.added}-0", "n", self.added)
            self.model.new.append(self.added)
            self.settle()

    @rule(name=names, count=counts)
    def read(self, name, count):
        reply = self.server.send_line(f"XREADGROUP GROUP g {name} COUNT {count} STREAMS s >")
        assert numbers_of(reply) == self.model.read(name, count)
        self.settle()

    @precondition(lambda self: len(self.waiting) < MOST_WAITING)
    @rule(name=names, count=counts)
    def wait(self, name, count):
        client = self.begin(f"XREADGROUP GROUP g {name} COUNT {count} BLOCK 0 STREAMS s >")
        self.waiting.append(Waiting(client, name, count))
        self.settle()

    @rule()
    def wait_without_a_group(self):
        """Somebody stands between them for whom none of them speaks."""
        self.begin("XREAD BLOCK 0 STREAMS s $")

    def begin(self, line: str) -> SocketlessClient:
        client = self.server.client()
        self.server.run(client.client, [word.encode() for word in line.split()])
        return client

    @precondition(lambda self: self.waiting)
    @rule(data=st.data(), is_gone=st.booleans())
    def wait_no_more(self, data, is_gone):
        each = data.draw(st.sampled_from(self.waiting))
        self.waiting.remove(each)
        if is_gone:
            self.server.state.blocking.client_left(each.client.client)
        else:
            assert self.server.send_line(f"CLIENT UNBLOCK {each.client.client.id}") == 1
            assert each.client.reply() is None
        self.settle()

    @precondition(lambda self: self.model.everything_pending())
    @rule(data=st.data())
    def acknowledge(self, data):
        entry = data.draw(st.sampled_from(self.model.everything_pending()))
        assert self.server.send("XACK", "s", "g", f"{entry.number}-0") == 1
        self.model.forget(entry)
        self.model.noted.pop(entry.number, None)
        self.model.acked.append(entry.number)
        self.settle()

    @precondition(lambda self: self.model.everything_pending())
    @rule(
        data=st.data(),
        mode=st.sampled_from(("SILENT", "FAIL", "FATAL")),
        delay=st.sampled_from((None, None, 0, 5, 20)),
    )
    def release(self, data, mode, delay):
        entry = data.draw(st.sampled_from(self.model.everything_pending()))
        line = f"XNACK s g {mode} IDS 1 {entry.number}-0"
        if delay is not None:
            line += f" DELAY {delay}"
        assert self.server.send_line(line) == 1
        if mode == "FATAL" or (mode == "FAIL" and self.model.is_dead(entry)):
            self.model.forget(entry)
            self.model.bury(entry)
        else:
            self.model.release(entry, mode == "SILENT", delay)
        self.settle()

    @rule(name=names)
    def hand_over(self, name):
        mine = sorted(
            (entry for entry in self.model.pending if entry.owner == name),
            key=lambda entry: entry.number,
        )
        assert self.server.send_line(f"XGROUP DELCONSUMER s g {name} HANDOVER") == len(mine)
        for entry in mine:
            self.model.release(entry, uncounted=True)
        self.settle()

    @rule(ms=st.sampled_from((1, 9, 10, 11, 30)))
    def time_passes(self, ms):
        for _ in range(ms):  # one by one: who waits is woken to the millisecond
            self.server.advance(1)
            self.model.now += 1
            self.settle()

    # ------------------------------------------------------------------ what operators do

    @rule(visibility=times, waits=waits, deliveries=limits, most=limits, most_of_one=limits)
    def configure(self, visibility, waits, deliveries, most, most_of_one):
        line = (
            f"XGROUP CFGSET s g VISIBILITY {visibility}"
            f" BACKOFF {' '.join(map(str, waits))} MAXDELIVERIES {deliveries} DEADLETTER dead"
            f" MAXPENDING {most} MAXPENDINGPERCONSUMER {most_of_one}"
        )
        assert self.server.send_line(line) == b"OK"
        model = self.model
        model.visibility, model.waits, model.deliveries = visibility, waits, deliveries
        model.most, model.most_of_one = most, most_of_one
        if not deliveries:
            model.noted.clear()
        self.settle()

    @rule()
    def copy_by_dump(self):
        """What is saved is what there is: also until when entries are held."""
        payload = self.server.send("DUMP", "s")
        shown = self.server.send_line("XPENDING s g - + 1000")
        assert self.server.send("RESTORE", "copy", "0", payload) == b"OK"
        assert self.server.send_line("XPENDING copy g - + 1000") == shown
        assert self.server.send("DUMP", "copy") == payload
        assert self.server.send("DEL", "copy") == 1

    @rule()
    def pause_or_resume(self):
        word = "RESUME" if self.model.paused else "PAUSE"
        assert self.server.send_line(f"XGROUP {word} s g") == 1
        self.model.paused = not self.model.paused
        self.settle()

    # ------------------------------------------------------------------ what must hold

    @invariant()
    def the_same_is_pending(self):
        rows = self.server.send_line("XPENDING s g - + 1000")
        shown = [(number(row[0]), row[1].decode(), row[3]) for row in rows]
        kept = sorted(
            (entry.number, entry.owner, entry.count) for entry in self.model.everything_pending()
        )
        assert shown == kept

    @invariant()
    def each_entry_is_in_one_place(self):
        model = self.model
        pending = [entry.number for entry in model.everything_pending()]
        places = [*model.new, *pending, *model.acked, *model.dead]
        assert sorted(places) == list(range(1, self.added + 1))
        letters = [row[1] for row in self.server.send_line("XRANGE dead - +")][1:]
        assert [int(letter[1]) for letter in letters] == model.dead
        firsts = [int(letter[letter.index(b"dead-first-ms") + 1]) for letter in letters]
        assert firsts == model.first_of_dead


def number(entry_id: bytes) -> int:
    return int(entry_id.partition(b"-")[0])


def numbers_of(reply) -> list[int]:
    return [] if reply is None else [number(row[0]) for row in reply[0][1]]


GroupPolicyMachine.TestCase.settings = settings(
    max_examples=rounds(60), stateful_step_count=40, deadline=None
)
TestGroupPolicies = GroupPolicyMachine.TestCase
