"""A server for the fuzzer of commands: no sockets, no disk, and a clock that it turns itself.

Each command of each client passes the dispatcher, as it would from a socket. What comes out is
checked at once: it must be whole replies, of the protocol that the client speaks, and as many as
there were commands. check_data() and check_empty() check what the server holds.

What it logs is run by a second server, its replica: no command of the log may fail there, and both
must hold the same.
"""

from __future__ import annotations

import gc
import io
from collections.abc import Iterator
from random import Random

import server.commands  # noqa: F401  (fills the table)
from fuzz.command_replica import Difference, FuzzedReplica, empty_all
from server.check.findings import Contents
from server.client.client import MONITORING, MUTED, SUBSCRIBED, Client
from server.client.endpoint import Endpoint
from server.config.parameters import Config
from server.dispatch.dispatcher import Dispatcher
from server.following.role_changes import RoleChanges
from server.lifecycle.idle_consumers import IdleConsumers
from server.lifecycle.retention import Retention
from server.lifecycle.time_travel import TimeTravel
from server.parts.expiry.expiry_cycle import ExpiryCycle
from server.parts.propagation.propagation import Durability, Op
from server.parts.state import ServerState
from server.process.server_clock import NS_A_MS, ServerClock
from storage import allocation, digest, payload
from storage.keyspace.key_events import KeyEvents
from storage.keyspace.keyspace import Keyspace
from storage.snapshot.filler import Filler
from storage.snapshot.snapshot_reader import SnapshotReader
from storage.snapshot.snapshot_writer import SnapshotWriter
from storage.stream import producers
from tests.compat import resp

START_MS = 1_700_000_000_000
PACKED_EVERY = 2  # commands of a client: its keys are never so many that the server packs them
MANY_LOOSE = 1  # keys; from here on what HSET changes is packed at once
LONGEST_STRING = 8 * 1024**2  # bytes: what SETBIT makes is saved, loaded and compared at each look
INTERNAL = b"internal error; the server's log has the details"
RESP2 = frozenset("+-:$*")
PUSH = ">"


class Finding(Exception):
    """Something that must never be; says what."""


class FuzzedEndpoint(Endpoint):
    """The server's end of a client without a socket."""

    __slots__ = ("_client", "_server")

    def __init__(self, server: FuzzedServer, client: Client) -> None:
        super().__init__()
        self._server = server
        self._client = client

    def disconnect(self) -> None:
        self._server.dismiss(self._client)

    def resume(self) -> None:
        """Go on with what CLIENT PAUSE has held back, unless the client has left since."""
        argv, self._client.postponed = self._client.postponed, None
        if argv is not None and self._client.id in self._server.state.clients:
            self._server.dispatcher.execute(self._client, argv)


class Counted:
    """How many replies one client has to get, and has got. Nobody knows once it is *unsteady*."""

    def __init__(self) -> None:
        self.sent = 0
        self.replies = 0
        self.unsteady = False  # it has subscribed or monitored, or wanted no replies


class KeptLog(Durability):
    """Stands in for the append-only file, which takes everything, and keeps it in *units*."""

    def __init__(self) -> None:
        super().__init__()
        self.units: list[list[Op]] = []

    def add_all(self, ops: list[Op]) -> None:
        """Take *ops*: names and arguments that are bytes."""
        for _, argv in ops:
            if not argv or not all(type(word) is bytes for word in argv):
                raise Finding(f"no command can be logged as {argv!r}")
        self.units.append([(db, list(argv)) for db, argv in ops])

    def write(self) -> bool:
        return True


def may_read_history(argv: list[bytes]) -> bool:
    """Whether *argv* may be a read of what a consumer has already, also in a script.

    Like Redis, a server without a policy for the group tells no replica of such deliveries.
    """
    words = [word.upper() for word in argv]
    if b"XREADGROUP" not in words:
        return False
    if b"STREAMS" not in words:
        return words[-1] != b">"
    streams = words[words.index(b"STREAMS") + 1 :]
    return any(word != b">" for word in streams[len(streams) // 2 :])


class FuzzedServer:
    """A whole server with *clients* clients; and a replica, unless *is_alone*."""

    def __init__(self, clients: int, is_alone: bool = False) -> None:
        gc.collect()
        config = Config()
        config.save = []
        config.proto_max_bulk_len = LONGEST_STRING
        self.now_ms = START_MS
        now_ns = lambda: self.now_ms * NS_A_MS  # noqa: E731
        self.state = ServerState(config, ServerClock(now_ns, now_ns))
        self.state.events.loose_keys.many = MANY_LOOSE
        self._log = KeptLog()
        self._replica = None if is_alone else FuzzedReplica(lambda: self.now_ms)
        self.dispatcher = Dispatcher(self.state, self._log)
        self.dispatcher.turn.enter()
        self._roles = RoleChanges(self.dispatcher, lambda: None)
        self._travel = TimeTravel(self.dispatcher, lambda: 0.0)
        self._idle_consumers = IdleConsumers(self.state, lambda: 0.0)
        self._retention = Retention(self.state, lambda: 0.0)
        self._expiry = ExpiryCycle(
            self.state.databases,
            self.state.events,
            config,
            self.state.stats,
            self.state.latency_events,
            lambda: 0.0,
        )
        self._tells_counts = True  # a replica knows when, and how often, entries were delivered
        self._last_id = 0
        self._used_at_start = allocation.used_bytes()
        self._counted: dict[Client, Counted] = {}
        for _ in range(clients):
            self.connect()

    # ------------------------------------------------------------------ clients

    def connect(self) -> Client:
        """A client comes."""
        self._last_id += 1
        client = Client(self._last_id, self.now_ms)
        client.address, client.local_address = f"10.0.0.1:{self._last_id}", "10.0.0.2:6379"
        client.endpoint = FuzzedEndpoint(self, client)
        self.state.access.connected(client)
        self.state.clients[client.id] = client
        self._counted[client] = Counted()
        return client

    def dismiss(self, client: Client) -> None:
        """A client goes, as server.network.clients has it."""
        if self.state.clients.pop(client.id, None) is not None:
            del self._counted[client]
            self.state.client_left(client)

    def free_clients(self) -> list[Client]:
        """The clients that can send a command: they do not wait for the reply to another."""
        return [
            client
            for client in self.state.clients.values()
            if client.waiter is None and client.postponed is None
        ]

    def run(self, client: Client, argv: list[bytes]) -> list[resp.Reply]:
        """Run one command; returns what its client has got by then. Raises Finding."""
        counted = self._counted[client]
        counted.sent += 1
        if counted.sent % PACKED_EVERY == 0:
            self._pack_values()
        counted.unsteady |= argv[0].lower().endswith(b"subscribe")
        self._tells_counts &= not may_read_history(argv)
        protocol = client.resp
        self.dispatcher.turn.run(lambda: self.dispatcher.execute(client, list(argv)))
        counted.unsteady |= bool(client.flags & (MUTED | SUBSCRIBED | MONITORING))
        mine = self._take(client, max(protocol, client.resp))
        for other in list(self.state.clients.values()):
            if other is not client:
                self._take(other, other.resp)
        if client.close_after_reply:
            self.dismiss(client)
        self._follow()
        return mine

    def _take(self, client: Client, protocol: int) -> list[resp.Reply]:
        """What *client* has got since the last time. Raises Finding."""
        data = client.out.take()
        replies = list(whole_replies(data))
        for reply in replies:
            check_kinds(reply, protocol)
        if INTERNAL in data:
            raise Finding("a handler has raised an exception: see the log")
        counted = self._counted.get(client)
        if counted is not None:
            counted.replies += sum(kind != PUSH for kind, _ in replies)
            waits = client.waiter is not None or client.postponed is not None
            if not counted.unsteady and counted.replies != counted.sent - waits:
                raise Finding(f"{counted.replies} replies to {counted.sent} commands: {data!r}")
        return replies

    # ------------------------------------------------------------------ time

    def _pack_values(self) -> None:
        """Pack all small values, as the end of a turn does when many keys are loose."""
        for db in self.state.databases:
            db.pack(db.loose)

    def advance(self, ms: int) -> None:
        """Let time pass, and do what cron does then, in a turn: what it sends leaves afterwards."""
        self.now_ms += ms
        self.dispatcher.turn.run(self._tick)
        for client in list(self.state.clients.values()):
            self._take(client, client.resp)
        self._follow()

    def _follow(self) -> None:
        """Let the replica run what was logged. Raises Finding."""
        units, self._log.units = self._log.units, []
        if self._replica is None:
            return
        for unit in units:
            try:
                self._replica.run(unit)
            except Difference as difference:
                raise Finding(f"{difference}, of {unit!r}") from difference

    def _tick(self) -> None:
        for part in self.state.parts:
            part.tick(self.now_ms)
        self._travel.catch_up()
        producers.expire_due(self.now_ms)
        self._expiry.run()
        self._idle_consumers.begin()
        self._idle_consumers.run()
        self._retention.begin()
        while self._retention.may_go_on and not self._retention.is_done:
            self._retention.go_on()
        self.state.propagation.deliver_each()

    # ------------------------------------------------------------------ what must hold

    def check_data(self, dice: Random) -> list[bytes]:
        """Write all data as a snapshot, read them back with all checks, and compare.

        Returns the payload that DUMP gives for some key. Raises Finding.
        """
        databases = self.state.databases
        try:
            if self._replica is not None:
                self._replica.compare(databases, self._tells_counts)
        except Difference as difference:
            raise Finding(str(difference)) from difference
        written = b"".join(SnapshotWriter(databases, {}))
        again = loaded(written, self.now_ms)
        for database, other in zip(databases, again, strict=True):
            for key in database.table:
                if digest.of_key(database, key) != digest.of_key(other, key):
                    raise Finding(f"{key!r} is another value when it is loaded")
                check_structure(database.table.get(key), key)
            if len(database.expiring) != len(other.expiring):
                raise Finding("an expiry is lost")
        keys = [(database, key) for database in databases for key in database.table]
        if not keys:
            return []
        database, key = dice.choice(keys)
        return [self._dumped(database, key)]

    def _dumped(self, database: Keyspace, key: bytes) -> bytes:
        """The payload of *key*, which must make an equal value."""
        dumped = payload.dump(database.table.get(key), side=database.side.get(key))
        other = Keyspace(0, KeyEvents())
        value, side = payload.restore_all(dumped)
        other.add(key, value)
        other.put_side(key, side)
        if database.expiry(key) != -1:
            other.expire_at(key, 2**60)
        if digest.of_key(other, key) != digest.of_key(database, key):
            raise Finding(f"{key!r} is another value when it is restored")
        return dumped

    def check_empty(self) -> None:
        """Remove all keys, disconnect all clients, and see that nothing is left. Raises Finding."""
        state = self.state
        if state.pausing.active:
            self.dispatcher.waits.end_pause()
        self.dispatcher.turn.run(self._empty)
        gc.collect()
        bytes_left = allocation.used_bytes() - self._used_at_start
        for client in list(state.clients.values()):
            self.dismiss(client)
        state.scripting.flush_scripts()
        state.scripting.use_functions(None)
        left = {
            "clients' memory": state.memory.clients,
            "scripts' memory": state.memory.scripts,
            "waiters": state.blocking.waiting,
            "queues of waiters": len(state.blocking.queues),
            "watched keys": len(state.watching.watchers),
            "subscribers": state.pubsub.clients,
            "channels": len(state.pubsub.channels),
            "patterns": len(state.pubsub.patterns),
            "shard channels": len(state.pubsub.shard_channels),
            "keys": sum(len(db) + len(db.expiring) for db in state.databases),
            "schedules": len(state.agenda),
            "streams with policies": sum(len(db.tended) for db in state.databases),
            "bytes": bytes_left,  # while the clients were there
        }
        if any(left.values()):
            raise Finding(f"what is left: { {name: n for name, n in left.items() if n} }")

    def _empty(self) -> None:
        """Remove all keys, and what has come by that."""
        self._follow()
        state = self.state
        empty_all(state)
        self.dispatcher.waits.serve_ready()
        while any(map(len, state.databases)):
            state.empty(state.databases)
            self.dispatcher.waits.serve_ready()
        self._log.units.clear()
        if self._replica is not None:
            self._replica.empty()


# ---------------------------------------------------------------------- replies


def whole_replies(data: bytes) -> Iterator[resp.Reply]:
    """The replies in *data*. Raises Finding if it is anything else."""
    stream = io.BytesIO(data)
    while stream.tell() < len(data):
        try:
            yield resp.read(stream)
        except (resp.NotResp, ValueError) as error:
            raise Finding(f"no reply: {data!r}: {error}") from error


def check_kinds(reply: resp.Reply, protocol: int) -> None:
    """Raise Finding if *reply*, or one inside it, is of no type of that protocol."""
    kind, value = reply
    if kind == resp.CLOSED[0] or (protocol == 2 and kind not in RESP2):
        raise Finding(f"no reply of RESP{protocol}: {reply!r}")
    if isinstance(value, list):
        for item in value:
            check_kinds(item, protocol)


# ---------------------------------------------------------------------- data


def check_structure(value: object, key: bytes) -> None:
    """Run the own check of *value*, if its class has one."""
    check = getattr(value, "check", None)
    if check is not None:
        try:
            check()
        except Exception as error:
            raise Finding(f"the value at {key!r} is damaged: {error!r}") from error


def loaded(data: bytes, now_ms: int) -> list[Keyspace]:
    """The databases of a snapshot, as server.check reads them. Raises Finding."""
    events = KeyEvents()
    events.clock.now_ms = now_ms
    databases = [Keyspace(index, events) for index in range(Config().databases)]
    try:
        contents = Contents()
        for record in SnapshotReader(data):
            expires = record.expiry_ms != -1
            contents.count_key(record.db, record.key, record.value, expires, record.end)
        filler = Filler(databases, now_ms, keeps_expired=True)
        reader = SnapshotReader(data)
        while filler.fill(reader):
            pass
    except Exception as error:
        raise Finding(f"the snapshot cannot be read: {error!r}") from error
    return databases
