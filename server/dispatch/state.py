"""The state of the whole server: what handlers may read and change besides their database."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from protocol.replies import ErrorReply
from server.client.client import Client
from server.config.parameters import Config
from server.dispatch.blocking import Blocking
from server.dispatch.pausing import Pausing
from server.dispatch.server_key_events import ServerKeyEvents
from server.dispatch.watching import Watching
from server.observe.memory import MOST, Memory
from server.observe.part import Part
from server.observe.stats import Stats
from server.persistence.log_loader import Replay
from server.persistence.persistence import Persistence
from server.propagation.propagation import Propagation
from server.table.command import TABLE, CommandTable
from storage.keyspace.clock import Clock
from storage.keyspace.keyspace import Keyspace
from storage.keyspace.lookup import Lookup
from storage.stream.stream import StreamConfig


class ServerState:
    """Configuration, databases, clients, and the parts. No sockets, no loop."""

    def __init__(self, config: Config, monotonic_ms: Callable[[], int]) -> None:
        self.config = config
        self.monotonic_ms = monotonic_ms  # for deadlines: a clock that never jumps
        self.table: CommandTable = TABLE
        self.stats = Stats()
        self.clients: dict[int, Client] = {}
        self.memory = Memory()
        self.watching = Watching(self.memory)
        self.databases: list[Keyspace] = []
        self.blocking = Blocking(self.databases)
        self.pausing = Pausing()
        self.parts: list[Part] = [self.stats, self.blocking, self.watching, self.pausing]
        self.propagation = Propagation()
        self.events = ServerKeyEvents(self.blocking, self.watching, self.propagation)
        self.clock: Clock = self.events.clock
        self.lookup: Lookup = self.events.lookup
        self.databases += [Keyspace(i, self.events) for i in range(config.databases)]
        self.memory.started()
        self.persistence = Persistence(config, self.databases, self.events, self.propagation)
        self.random = Random()  # noqa: S311  (picks keys, guards nothing)
        self.run_id = f"{self.random.getrandbits(160):040x}"
        self.short_of_memory = False  # the system gives no more; cron keeps it true
        self.stopping = False  # the server ends: nothing more is run
        self.loading = False  # data is being read from the disk
        self.write_refusal: ErrorReply | None = None  # why writes are refused: they are not kept
        self.refuses_reads = False  # so are reads: they would show what may not be kept
        self.restricted = False  # not every command may run, for one of these reasons or a pause
        self.guarded = False  # so it is, or may be whenever more memory is in use
        self.started_ms = 0
        self.stop: Callable[[frozenset[bytes]], bool] = _not_running  # SHUTDOWN's options
        self.begin_replay: Callable[[], Replay] = _no_replay  # for what a file has logged
        self.listening: list[str] = []  # INFO server's listener lines
        self.stream_config = StreamConfig()  # what XADD asks each time
        self.list_fill = 0  # list-max-listpack-size, which each change of a list asks for
        self.follow_config()

    # ------------------------------------------------------------------ what follows from changes

    def update_guard(self) -> None:
        """To be called when a pause begins or ends, and when one of the reasons changes."""
        self.restricted = (
            self.short_of_memory
            or self.stopping
            or self.loading
            or self.write_refusal is not None
            or self.pausing.active
        )
        self.guarded = self.restricted or self.memory.limit > 0

    def follow_config(self) -> None:
        """To be called when parameters have changed."""
        self.memory.limit = min(self.config.maxmemory, MOST)
        self.stream_config.node_max_bytes = self.config.stream_node_max_bytes
        self.stream_config.node_max_entries = self.config.stream_node_max_entries
        self.list_fill = self.config.list_max_listpack_size
        self.follow_persistence()

    def follow_persistence(self) -> None:
        """To be called when a save or a parameter may have changed whether writes are refused."""
        self.write_refusal = self.persistence.refusal
        self.refuses_reads = self.persistence.refuses_reads
        self.update_guard()

    # ------------------------------------------------------------------ what all parts hear of

    def client_left(self, client: Client) -> None:
        """The connection of *client* is closed."""
        for part in self.parts:
            part.client_left(client)

    def empty(self, databases: Sequence[Keyspace]) -> int:
        """Remove all keys of *databases*; return how many there were. O(N)."""
        keys = 0
        for db in databases:
            for part in self.parts:
                part.emptying((db,))
            keys += db.clear()
            for part in self.parts:
                part.emptied((db,))
        return keys

    def swap(self, one: Keyspace, other: Keyspace) -> None:
        """Exchange all keys of two databases. O(keys that are watched or waited for)."""
        for part in self.parts:
            part.emptying((one, other))
        one.swap(other)
        for part in self.parts:
            part.emptied((one, other))

    def reset_statistics(self) -> None:
        """Count anew from here."""
        for part in self.parts:
            part.statistics_reset()
        self.events.hits = self.events.misses = self.events.expired = 0
        for row in self.table:
            row.reset_stats()
            for child in row.subcommands.values():
                child.reset_stats()


def _not_running(_options: frozenset[bytes]) -> bool:
    """Do nothing: there is no process to end."""
    return True


def _no_replay() -> Replay:
    """There is no dispatcher yet."""
    raise NotImplementedError
