"""Client-side caching against a naive model: each client's cache, and what it must hear."""

from __future__ import annotations

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

import server.commands  # noqa: F401  (fills the table)
from server.client.client import Client
from server.client.pushes import Pushes
from server.client.tracking_options import TrackingOptions
from server.config.parameters import Config
from server.observe.memory import Memory
from server.parts.tracking.invalidation import Invalidation
from server.parts.tracking.tracking import Tracking
from server.table.command import TABLE
from storage.chance import Chance
from tests.worth import rounds

CLIENTS = st.integers(0, 4)
KEYS = st.sampled_from((b"", b"a", b"ab", b"abc", b"b", b"c"))
PREFIXES = st.sampled_from((b"", b"a", b"ab", b"b"))
EVERYTHING = None


class TrackingMachine(RuleBasedStateMachine):
    """Clients read, change, come and go. What each was told is compared with the model's caches."""

    def __init__(self) -> None:
        super().__init__()
        self.pushes = Pushes()
        self.clients: dict[int, Client] = {}
        self.tracking = Tracking(self.clients, self.pushes, Memory(), Chance(1))
        self.next_id = 1
        self.seats = [self.new_client() for _ in range(5)]
        self.read_by: dict[bytes, set[Client]] = {}
        self.broadcasts: dict[bytes, dict[bytes, Client | None]] = {}  # prefix -> changed -> by

    def new_client(self) -> Client:
        client = Client(self.next_id, 0)
        client.speak(3)
        self.clients[self.next_id] = client
        self.next_id += 1
        return client

    @rule(seat=CLIENTS, no_loop=st.booleans(), prefix=st.none() | PREFIXES)
    def start(self, seat: int, no_loop: bool, prefix: bytes | None) -> None:
        client = self.seats[seat]
        if client.flags:
            self.stop(seat)
        options = TrackingOptions()
        options.no_loop = no_loop
        options.broadcasts = prefix is not None
        self.tracking.start(client, options, [] if prefix is None else [prefix])
        self.pushes.end_command(client)
        if prefix is not None:
            self.broadcasts.setdefault(prefix, {})

    @rule(seat=CLIENTS)
    def stop(self, seat: int) -> None:
        client = self.seats[seat]
        self.tracking.stop(client)
        self.forget(client)

    @rule(seat=CLIENTS)
    def leave(self, seat: int) -> None:
        client = self.seats[seat]
        del self.clients[client.id]
        self.tracking.client_left(client)
        self.forget(client)
        self.seats[seat] = self.new_client()

    def forget(self, client: Client) -> None:
        """The model forgets *client*, and a prefix that nobody has any more."""
        if not any(each.flags for each in self.seats if each is not client):
            self.read_by.clear()
        others = [each for each in self.seats if each is not client]
        held = {prefix for each in others for prefix in each.tracking.prefixes}
        for prefix in list(self.broadcasts):
            if prefix not in held:
                del self.broadcasts[prefix]

    @rule(seat=CLIENTS, key=KEYS)
    def read(self, seat: int, key: bytes) -> None:
        client = self.seats[seat]
        if not client.flags:
            return
        command = TABLE.find(b"get")
        assert command is not None
        self.tracking.command_ran(client, command, [b"GET", key])
        if not client.tracking.broadcasts:
            self.read_by.setdefault(key, set()).add(client)

    @rule(seat=st.none() | CLIENTS, key=KEYS, event=st.sampled_from((b"set", b"expired")))
    def change(self, seat: int | None, key: bytes, event: bytes) -> None:
        by = None if seat is None else self.seats[seat]
        if by is not None and by.flags:
            self.pushes.begin_command(by)
        self.tracking.changed(key, event)
        if by is not None:
            self.pushes.end_command(by)
        readers = {each for each in self.read_by.pop(key, set()) if self.caches(each)}
        told = [each for each in readers if not (each.tracking.no_loop and each is by)]
        self.check({each: [[key]] for each in told})
        for prefix, changed in self.broadcasts.items():
            if key.startswith(prefix):
                changed[key] = by if event == b"set" else None

    def caches(self, client: Client) -> bool:
        """Whether *client* exists, and keeps what it reads."""
        return client.id in self.clients and bool(client.flags) and not client.tracking.broadcasts

    @rule()
    def end_turn(self) -> None:
        self.tracking.broadcasts.send()
        expected: dict[Client, list[list[bytes] | None]] = {}
        for prefix, changed in sorted(self.broadcasts.items()):
            for client in self.seats:
                if client.flags and prefix in client.tracking.prefixes:
                    own = client if client.tracking.no_loop else self
                    if keys := [key for key in sorted(changed) if changed[key] is not own]:
                        expected.setdefault(client, []).append(keys)
            changed.clear()
        self.check(expected)

    @precondition(lambda self: any(client.flags for client in self.seats))
    @rule()
    def flush(self) -> None:
        self.tracking.flushed()
        self.read_by.clear()
        self.check({client: [EVERYTHING] for client in self.seats if client.flags})

    @rule(limit=st.integers(1, 3))
    def limit(self, limit: int) -> None:
        config = Config()
        config.tracking_table_max_keys = limit
        self.tracking.configured(config)
        self.tracking.tick(0)
        config.tracking_table_max_keys = 0
        self.tracking.configured(config)
        assert len(self.tracking.table) <= limit
        told = {client: client.out.take() for client in self.seats}
        for key, readers in list(self.read_by.items()):
            message = Invalidation([key]).encoded(3)
            living = {client for client in readers if self.caches(client)}
            if any(message in told[client] for client in living):
                assert all(message in told[client] for client in living)
                del self.read_by[key]
        if len(self.read_by) > limit:  # some had readers only that no longer exist
            self.tracking.flushed()
            self.read_by.clear()
            for client in self.seats:
                client.out.take()

    def check(self, expected: dict[Client, list[list[bytes] | None]]) -> None:
        """Each client was told what is expected, and nothing else."""
        for client in self.seats:
            messages = [Invalidation(keys).encoded(3) for keys in expected.get(client, [])]
            assert client.out.take() == b"".join(messages)

    @invariant()
    def the_table_counts_keys_and_items(self) -> None:
        assert len(self.tracking.broadcasts) == len(self.broadcasts)
        assert self.tracking.hears == any(client.flags for client in self.seats)

    def teardown(self) -> None:
        for client in self.seats:
            self.tracking.client_left(client)
        assert (len(self.tracking.table), self.tracking.table.items) == (0, 0)


TestTracking = TrackingMachine.TestCase
TestTracking.settings = settings(max_examples=rounds(60), stateful_step_count=40, deadline=None)
