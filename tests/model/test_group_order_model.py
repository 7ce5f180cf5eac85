"""A group with ORDERBY: what must hold whatever its consumers do, and whatever happens to them.

Consumers read, wait, acknowledge, release, claim, die and hand over; entries are deleted; time
passes. The machine keeps of each entry only its value and what has become of it, and looks at
XPENDING; what it demands of each delivery is said in check_given().
"""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from server.config.parameters import Config
from storage.stream import lanes
from storage.stream.lane import Lane
from tests.server.conftest import NOTHING, SocketlessServer
from tests.worth import rounds

NAMES = ("ann", "bob", "cem")
NO_VALUE = ""

names = st.sampled_from(NAMES)
counts = st.integers(1, 4)
values = st.sampled_from(("x", "x", "y", "z", NO_VALUE))


class GroupOrderMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.server = SocketlessServer(Config())
        self.server.send_line("XGROUP CREATE s g 0 MKSTREAM")
        self.server.send_line("XGROUP CFGSET s g ORDERBY v DEADLETTER dead MKSTREAM")
        self.values: list[str] = [NO_VALUE]  # by number, from 1
        self.done: set[int] = set()  # acknowledged, dead, or lost with their consumer
        self.deleted: set[int] = set()
        self.was_set_back = False
        self.waiter, self.waiting = self.server.client(), ""

    # ------------------------------------------------------------------ what is there

    def pending(self) -> dict[int, tuple[str, int]]:
        """By number, in order: the owner (or nobody), and how often it was delivered."""
        rows = self.server.send_line("XPENDING s g - + 1000")
        return {number(row[0]): (row[1].decode(), row[3]) for row in rows}

    def lane(self, value: str) -> list[int]:
        """The numbers of the entries of *value* that are not done, in order."""
        of_value = (at for at in range(1, len(self.values)) if self.values[at] == value)
        return [at for at in of_value if at not in self.done]

    def held(self) -> dict[bytes, int]:
        """Until when values are held, by what XINFO says."""
        report = as_map(self.server.send_line("XINFO ORDER s g COUNT 1000"))
        rows = [as_map(row) for row in report[b"lanes"]]
        return {row[b"value"]: row[b"held-until"] for row in rows if row[b"held-until"]}

    def settle(self, before: dict[int, tuple[str, int]]) -> None:
        """Whoever waits has got what there is."""
        self.note_dead(self.pending())
        reply = self.waiter.reply() if self.waiting else NOTHING
        if reply is not NOTHING:
            name, self.waiting = self.waiting, ""
            self.check_given(numbers(reply), name, before)

    def check_given(self, given: list[int], name: str, before: dict[int, tuple[str, int]]) -> None:
        """Each entry comes after all others of its value, which are done, or *name* has them."""
        now = self.pending()
        self.note_dead(now)
        most = as_map(self.server.send_line("XGROUP CFGGET s g"))[b"maxpending"]
        assert not most or self.in_flight(now) <= max(most, self.in_flight(before))
        for at in given:
            assert now[at][0] == name
            assert at not in self.deleted
            for earlier in self.lane(self.values[at]) if self.values[at] else []:
                if earlier < at and earlier not in self.deleted:
                    assert now[earlier][0] == name, (at, earlier, before)
                    assert earlier in given, "the rest of a value waits for what somebody has"

    def in_flight(self, pending: dict[int, tuple[str, int]]) -> int:
        """How many count for MAXPENDING: what waits for the turn of its value does not."""
        return sum(bool(owner) or not self.values[at] for at, (owner, _) in pending.items())

    def dead(self) -> set[int]:
        letters = [row[1] for row in self.server.send_line("XRANGE dead - +")]
        return {int(letter[letter.index(b"n") + 1]) for letter in letters}

    def note_dead(self, now: dict[int, tuple[str, int]]) -> None:
        self.done |= self.dead()
        self.done |= {at for at in self.deleted if at not in now}

    # ------------------------------------------------------------------ what clients do

    @rule(value=values, entries=st.integers(1, 3))
    def add(self, value, entries):
        for _ in range(entries):
            before = self.pending()
            at = len(self.values)
            self.values.append(value)
            field = ["v", value] if value else ["w", "x"]
            self.server.send("XADD", "s", f"{at}-0", "n", at, *field)
            self.settle(before)

    @rule(name=names, count=counts, claim=st.sampled_from((None, None, 0, 10)))
    def read(self, name, count, claim):
        before = self.pending()
        words = "" if claim is None else f"CLAIM {claim}"
        line = f"XREADGROUP GROUP g {name} COUNT {count} {words} STREAMS s >"
        given = numbers(self.server.send_line(line))
        if claim == 0:  # it may take what it has just been given
            self.note_dead(self.pending())
        else:
            self.check_given(given, name, before)
        self.settle(before)

    @precondition(lambda self: not self.waiting)
    @rule(name=names, count=counts)
    def wait(self, name, count):
        before = self.pending()
        line = f"XREADGROUP GROUP g {name} COUNT {count} BLOCK 0 STREAMS s >"
        self.server.run(self.waiter.client, line.encode().split())
        self.waiting = name
        self.settle(before)

    @precondition(lambda self: self.pending())
    @rule(data=st.data())
    def acknowledge(self, data):
        before = self.pending()
        at = data.draw(st.sampled_from(sorted(before)))
        assert self.server.send("XACK", "s", "g", f"{at}-0") == 1
        self.done.add(at)
        self.settle(before)

    @precondition(lambda self: self.pending())
    @rule(
        data=st.data(),
        mode=st.sampled_from(("SILENT", "FAIL", "FATAL")),
        delay=st.sampled_from((None, None, 5, 20)),
    )
    def release(self, data, mode, delay):
        before = self.pending()
        at = data.draw(st.sampled_from(sorted(before)))
        words = "" if delay is None else f"DELAY {delay}"
        self.server.send_line(f"XNACK s g {mode} IDS 1 {at}-0 {words}")
        if mode == "FATAL":
            self.done.add(at)
        self.settle(before)

    @precondition(lambda self: self.done - self.deleted - self.dead())
    @rule(data=st.data(), name=names, is_released=st.booleans())
    def force(self, data, name, is_released):
        """What was acknowledged is pending again, unless it is not the consumer's turn."""
        before = self.pending()
        at = data.draw(st.sampled_from(sorted(self.done - self.deleted - self.dead())))
        claim, release = f"XCLAIM s g {name} 0 {at}-0", f"XNACK s g FAIL IDS 1 {at}-0"
        self.server.send_line(f"{release if is_released else claim} FORCE")
        self.done -= set(self.pending())
        self.settle(before)

    @rule(name=names, hands_over=st.booleans())
    def leave(self, name, hands_over):
        before = self.pending()
        self.server.send_line(f"XGROUP DELCONSUMER s g {name}{' HANDOVER' * hands_over}")
        if not hands_over:
            self.done |= {at for at, (owner, _) in before.items() if owner == name}
        self.settle(before)

    @precondition(lambda self: self.pending())
    @rule(data=st.data(), name=names, is_auto=st.booleans(), idle=st.sampled_from((0, 10)))
    def claim(self, data, name, is_auto, idle):
        before = self.pending()
        at = data.draw(st.sampled_from(sorted(before)))
        if is_auto:
            self.server.send_line(f"XAUTOCLAIM s g {name} {idle} {at}-0 JUSTID")
        else:
            self.server.send_line(f"XCLAIM s g {name} {idle} {at}-0 JUSTID")
        self.note_dead(self.pending())
        self.settle(before)

    @precondition(lambda self: len(self.values) > 1)
    @rule(data=st.data(), drops=st.booleans())
    def delete(self, data, drops):
        before = self.pending()
        at = data.draw(st.integers(1, len(self.values) - 1))
        self.server.send_line(f"XDELEX s {'DELREF' if drops else 'KEEPREF'} IDS 1 {at}-0")
        self.deleted.add(at)
        self.note_dead(self.pending())
        self.settle(before)

    @rule(ms=st.sampled_from((1, 9, 11, 30)))
    def time_passes(self, ms):
        for _ in range(ms):
            before = self.pending()
            self.server.advance(1)
            self.settle(before)

    # ------------------------------------------------------------------ what operators do

    @rule(
        visibility=st.sampled_from((0, 10, 25)),
        backoff=st.sampled_from((0, 5)),
        deliveries=st.sampled_from((0, 0, 1, 2)),
        most=st.sampled_from((0, 0, 2)),
        most_of_value=st.sampled_from((0, 0, 1)),
    )
    def configure(self, visibility, backoff, deliveries, most, most_of_value):
        before = self.pending()
        line = (
            f"XGROUP CFGSET s g VISIBILITY {visibility} BACKOFF {backoff} MAXDELIVERIES"
            f" {deliveries} MAXPENDING {most} MAXPENDINGPERVALUE {most_of_value}"
        )
        assert self.server.send_line(line) == b"OK"
        self.settle(before)

    @rule()
    def start_again(self):
        """What is saved is what there is, and the order is made anew."""
        before = self.pending()
        shown = self.server.send_line("XINFO ORDER s g COUNT 1000")
        payload = self.server.send("DUMP", "s")
        self.server.send("RESTORE", "s", "0", payload, "REPLACE")
        again = self.server.send_line("XINFO ORDER s g COUNT 1000")
        if not self.deleted:
            assert sorted(map(str, again[-1])) == sorted(map(str, shown[-1]))
        self.settle(before)  # a deleted entry that somebody has holds nobody back any more

    # ------------------------------------------------------------------ what must hold

    @invariant()
    def a_value_is_with_one_consumer(self):
        now = self.pending()
        for value in {*self.values} - {NO_VALUE}:
            owners = {now[at][0] for at in self.lane(value) if at in now and at not in self.deleted}
            assert len(owners - {""}) <= 1

    @invariant()
    def nothing_is_lost(self):
        now, last = self.pending(), self.last_read()
        for at in range(1, last + 1):
            assert at in now or at in self.done or at in self.deleted
        assert not set(now) & self.done - self.deleted

    def last_read(self) -> int:
        info = as_map(self.server.send_line("XINFO GROUPS s")[0])
        return number(info[b"last-delivered-id"])

    @invariant()
    def the_lanes_are_those_of_what_is_pending(self):
        stream = self.server.state.databases[0].peek(b"s")
        group = stream.find_group(b"g")
        if group.order is None:
            return
        made = lanes.order_of(stream, group, b"v", is_shown=True)
        for lane in made.lanes.items():
            kept = group.order.lanes.find(lane.number)
            if not self.deleted:
                figures = (kept.size(), kept.taken) if isinstance(kept, Lane) else (1, 1)
                assert figures == (lane.size(), lane.taken)
        if not self.deleted:
            assert numbers_of(group.order.lanes.items()) == numbers_of(made.lanes.items())
            assert group.order.waiting == made.waiting
            kept_ready, made_ready = ([lane for _, lane in o.ready] for o in (group.order, made))
            assert numbers_of(kept_ready) == numbers_of(made_ready)

    @invariant()
    def nobody_waits_for_what_is_free(self):
        if not self.waiting or self.deleted:
            return
        policy = as_map(self.server.send_line("XGROUP CFGGET s g"))
        if policy[b"maxpending"] or policy[b"maxdeliveries"]:
            return
        now, held = self.pending(), self.held()
        for value in {*self.values} - {NO_VALUE}:
            lane = self.lane(value)
            if lane and value.encode() not in held:
                assert any(now.get(at, ("", 0))[0] for at in lane), (value, lane, now)


def numbers_of(items) -> list[int]:
    return sorted(item.number if isinstance(item, Lane) else item.lane for item in items)


def number(entry_id: bytes) -> int:
    return int(entry_id.partition(b"-")[0])


def numbers(reply) -> list[int]:
    return [] if reply is None else [number(row[0]) for row in reply[0][1]]


def as_map(reply) -> dict:
    return dict(zip(reply[::2], reply[1::2], strict=True))


GroupOrderMachine.TestCase.settings = settings(
    max_examples=rounds(60), stateful_step_count=40, deadline=None
)
TestGroupOrders = GroupOrderMachine.TestCase
