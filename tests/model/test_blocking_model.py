"""Blocked clients compared with a naive model: which gets which element, and which wait on.

The model keeps plain lists and, for each key, the clients that wait for it, oldest first. Four
clients block and push at random; after each step all replies and all lists must be the same.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from server.config.parameters import Config
from tests.server.conftest import NOTHING, SocketlessServer
from tests.worth import rounds

CLIENTS = range(4)
KEYS = (b"a", b"b", b"c", b"d")
SIDES = ("LEFT", "RIGHT")

keys = st.sampled_from(KEYS)
some_keys = st.lists(keys, min_size=1, max_size=3)
sides = st.sampled_from(SIDES)
clients = st.sampled_from(CLIENTS)
timeouts = st.sampled_from((0, 1, 2, 5))  # seconds


@dataclass
class Waiting:
    """A blocked client: its keys, what it pops, and the second at which it times out (0: never)."""

    client: int
    keys: list[bytes]
    side: str
    due: int
    target: bytes | None = None  # BLMOVE: the destination, and at which end
    target_side: str = ""
    count: int = 0  # BLMPOP: the most elements


@dataclass
class Model:
    """The behaviour that the server must have, as simply as possible."""

    now: int = 0
    lists: dict[bytes, list[bytes]] = field(default_factory=dict)
    strings: set[bytes] = field(default_factory=set)
    queues: dict[bytes, list[Waiting]] = field(default_factory=lambda: {key: [] for key in KEYS})
    ready: list[bytes] = field(default_factory=list)
    replies: dict[int, object] = field(default_factory=dict)

    def waiting(self, client):
        return next((w for q in self.queues.values() for w in q if w.client == client), None)

    def begin(self, wait):
        """Run a blocking command: answer it at once, or let its client wait."""
        if not self.attempt(wait):
            for key in dict.fromkeys(wait.keys):
                self.queues[key].append(wait)
        self.serve()

    def end(self, wait):
        for queue in self.queues.values():
            if wait in queue:
                queue.remove(wait)

    def attempt(self, wait):
        """Answer *wait* if one of its keys can serve it; return whether one could."""
        for key in wait.keys:
            if key in self.strings:
                self.replies[wait.client] = "-WRONGTYPE"
                return True
            if key not in self.lists:
                continue
            if wait.target is not None and wait.target in self.strings:
                self.replies[wait.client] = "-WRONGTYPE"
                return True
            self.replies[wait.client] = self.take(wait, key)
            return True
        return False

    def take(self, wait, key):
        if wait.target is not None:
            item = self.pop(key, wait.side)
            self.push(wait.target, wait.target_side, [item])
            return item
        if wait.count:
            most = min(wait.count, len(self.lists[key]))
            return [key, [self.pop(key, wait.side) for _ in range(most)]]
        return [key, self.pop(key, wait.side)]

    def pop(self, key, side):
        item = self.lists[key].pop(0 if side == "LEFT" else -1)
        if not self.lists[key]:
            del self.lists[key]
        return item

    def push(self, key, side, items):
        if key not in self.lists:
            self.lists[key] = []
            if key not in self.ready:
                self.ready.append(key)
        for item in items:
            self.lists[key].insert(0 if side == "LEFT" else len(self.lists[key]), item)

    def serve(self):
        """Serve the keys in the order in which they became ready, their clients oldest first."""
        while self.ready:
            key = self.ready.pop(0)
            for wait in list(self.queues[key]):
                if key in self.lists and wait in self.queues[key] and self.attempt(wait):
                    self.end(wait)

    def pass_time(self, seconds):
        self.now += seconds
        for queue in self.queues.values():
            for wait in list(queue):
                if wait.due and wait.due <= self.now:
                    self.end(wait)
                    self.replies[wait.client] = None


class BlockingMachine(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.server = SocketlessServer(Config())
        self.guests = {number: self.server.client() for number in CLIENTS}
        self.model = Model()
        self.items = 0

    def new_items(self, count):
        self.items += count
        return [b"%d" % n for n in range(self.items - count, self.items)]

    def due(self, timeout):
        return self.model.now + timeout if timeout else 0

    def start(self, wait, *words):
        """Send a blocking command, unless its client is blocked already."""
        if self.model.waiting(wait.client) is None:
            self.server.run(self.guests[wait.client].client, [_bytes(word) for word in words])
            self.model.begin(wait)

    @rule(client=clients, names=some_keys, side=sides, timeout=timeouts)
    def pop(self, client, names, side, timeout):
        name = "BLPOP" if side == "LEFT" else "BRPOP"
        self.start(Waiting(client, names, side, self.due(timeout)), name, *names, timeout)

    @rule(client=clients, names=some_keys, side=sides, timeout=timeouts, count=st.integers(1, 3))
    def pop_many(self, client, names, side, timeout, count):
        words = ["BLMPOP", timeout, len(names), *names, side, "COUNT", count]
        self.start(Waiting(client, names, side, self.due(timeout), count=count), *words)

    @rule(
        client=clients,
        source=keys,
        destination=keys,
        from_side=sides,
        to_side=sides,
        timeout=timeouts,
    )
    def move(self, client, source, destination, from_side, to_side, timeout):
        wait = Waiting(client, [source], from_side, self.due(timeout), destination, to_side)
        self.start(wait, "BLMOVE", source, destination, from_side, to_side, timeout)

    @rule(key=keys, side=sides, count=st.integers(1, 3))
    def push(self, key, side, count):
        if key not in self.model.strings:
            items = self.new_items(count)
            self.server.send("LPUSH" if side == "LEFT" else "RPUSH", key, *items)
            self.model.push(key, side, items)
            self.model.serve()

    @rule(names=st.lists(keys, min_size=2, max_size=4))
    def push_in_a_transaction(self, names):
        self.server.send("MULTI")
        for key in names:
            if key not in self.model.strings:
                items = self.new_items(1)
                self.server.send("RPUSH", key, *items)
                self.model.push(key, "RIGHT", items)
        self.server.send("EXEC")
        self.model.serve()

    @rule(key=keys)
    def push_and_delete_in_a_transaction(self, key):
        for line in (["MULTI"], ["RPUSH", key, "x"], ["DEL", key], ["EXEC"]):
            self.server.send(*line)
        self.model.lists.pop(key, None)
        self.model.strings.discard(key)

    @rule(key=keys)
    def delete(self, key):
        self.server.send("DEL", key)
        self.model.lists.pop(key, None)
        self.model.strings.discard(key)

    @rule(key=keys)
    def overwrite(self, key):
        self.server.send("SET", key, "x")
        self.model.lists.pop(key, None)
        self.model.strings.add(key)

    @rule(source=keys, destination=keys)
    def rename(self, source, destination):
        model = self.model
        self.server.send("RENAME", source, destination)
        if source == destination or (source not in model.lists and source not in model.strings):
            return
        model.lists.pop(destination, None)
        model.strings.discard(destination)
        if source in model.strings:
            model.strings.discard(source)
            model.strings.add(destination)
        else:
            model.push(destination, "RIGHT", model.lists.pop(source))
            model.serve()

    @rule(client=clients)
    def disconnect(self, client):
        self.guests[client].leave()
        self.guests[client] = self.server.client()
        wait = self.model.waiting(client)
        if wait is not None:
            self.model.end(wait)

    @rule(client=clients)
    def unblock(self, client):
        wait = self.model.waiting(client)
        answer = self.server.send("CLIENT", "UNBLOCK", self.guests[client].client.id)
        assert answer == (wait is not None)
        if wait is not None:
            self.model.end(wait)
            self.model.replies[client] = None

    @precondition(lambda self: any(self.model.queues.values()))
    @rule(seconds=st.integers(1, 3))
    def pass_time(self, seconds):
        self.server.advance(seconds * 1000)
        self.model.pass_time(seconds)

    @invariant()
    def every_client_got_its_reply(self):
        for number, guest in self.guests.items():
            reply = guest.reply()
            if isinstance(reply, str) and reply != NOTHING:
                reply = reply.split()[0]
            assert reply == self.model.replies.pop(number, NOTHING)
            assert guest.waits == (self.model.waiting(number) is not None)

    @invariant()
    def lists_agree(self):
        for key in KEYS:
            if key not in self.model.strings:
                assert self.server.send("LRANGE", key, 0, -1) == self.model.lists.get(key, [])

    @invariant()
    def exactly_the_blocked_clients_are_registered(self):
        blocking = self.server.state.blocking
        held = {key: [w.client.id for w in queue] for (_, key), queue in blocking.queues.items()}
        ids = {number: guest.client.id for number, guest in self.guests.items()}
        queues = self.model.queues.items()
        assert held == {key: [ids[w.client] for w in queue] for key, queue in queues if queue}
        assert blocking.waiting == len({w for ids in held.values() for w in ids})
        assert blocking.first_ready is None


def _bytes(word):
    return word if isinstance(word, bytes) else str(word).encode()


BlockingMachine.TestCase.settings = settings(
    max_examples=rounds(100), stateful_step_count=40, deadline=None
)
TestBlocked = BlockingMachine.TestCase
