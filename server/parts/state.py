"""The state of the server: what handlers may read and change besides their database.

Each field is a thing of its own, with one purpose. A class that needs only one or two of them is
given these, and not the whole.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from server.client.client import Client
from server.client.pushes import Pushes
from server.config.addresses import Addresses, NoAddresses
from server.config.parameters import Config
from server.observe.command_stats import CommandStats
from server.observe.command_times import CommandTimes
from server.observe.hot_keys import HotKeys
from server.observe.key_sizes import KeySizes
from server.observe.large_commands import LargeCommands
from server.observe.latency_events import LatencyEvents
from server.observe.loop_lag import LoopLag
from server.observe.loop_times import LoopTimes
from server.observe.memory import Memory
from server.observe.monitors import Monitors
from server.observe.part import Part
from server.observe.slow_log import SlowLog
from server.observe.stats import Stats
from server.parts.access.access import Access
from server.parts.eviction.client_eviction import ClientEviction
from server.parts.eviction.key_eviction import KeyEviction
from server.parts.eviction.stream_compaction import StreamCompaction
from server.parts.eviction.value_packing import ValuePacking
from server.parts.expiry.stream_policies import StreamPolicies
from server.parts.hash_imports import HashImports
from server.parts.node_limits import NodeLimits
from server.parts.persistence.machine import SYSTEMS, Machine
from server.parts.persistence.persistence import Persistence
from server.parts.propagation.propagation import Propagation
from server.parts.propagation.replay import ReplayFailures
from server.parts.pubsub.pubsub import PubSub
from server.parts.replication.replication import Replication
from server.parts.restrictions import Restrictions
from server.parts.scheduling.agenda import Agenda
from server.parts.scripting.scripting import Scripting
from server.parts.server_key_events import ServerKeyEvents
from server.parts.stream_survey.stream_index import StreamIndex
from server.parts.stream_survey.survey import Survey
from server.parts.tracking.tracking import Tracking
from server.parts.waiting.blocking import Blocking
from server.parts.waiting.pausing import Pausing
from server.parts.watching import Watching
from server.process.identity import Instance
from server.process.server_clock import ServerClock
from server.process.shutdown import NoShutdown, Shutdown
from server.process.supervision import Supervision
from storage.chance import Chance
from storage.keyspace.keyspace import Keyspace


class ServerState:
    """Configuration, databases, clients, and the parts. No sockets, no loop.

    *clock* is what time it is; it follows the system's clocks if it is not given. *machine* has
    the disk and the processes, the system's if it is not given.
    """

    def __init__(
        self, config: Config, clock: ServerClock | None = None, machine: Machine = SYSTEMS
    ) -> None:
        self.config = config
        self.clock = clock or ServerClock()
        self.instance = Instance()
        self.supervision = Supervision(config)
        self.shutdown: Shutdown = NoShutdown()
        self.addresses: Addresses = NoAddresses()
        self.databases: list[Keyspace] = []
        self.clients: dict[int, Client] = {}
        self.memory = Memory()
        self.node_limits = NodeLimits()
        self.stats = Stats()
        self.command_stats = CommandStats()
        self.loop_times = LoopTimes(self.stats, self.command_stats)
        self.loop_lag = LoopLag()
        self.blocking = Blocking(self.databases, self.memory)
        self.agenda = Agenda(self.databases)
        self.watching = Watching(self.memory)
        self.pausing = Pausing()
        self.propagation = Propagation()
        self.pushes = Pushes()
        self.pubsub = PubSub(self.memory, self.pushes)
        self.monitors = Monitors(self.pushes)
        self.slow_log = SlowLog()
        self.latency_events = LatencyEvents()
        self.tracking = Tracking(
            self.clients, self.pushes, self.memory, Chance(int.from_bytes(os.urandom(7)))
        )
        self.scripting = Scripting(self.memory)
        self.stream_policies = StreamPolicies(self.databases)
        self.stream_index = StreamIndex(self.databases)
        self.events = ServerKeyEvents(
            self.blocking,
            self.watching,
            self.propagation,
            self.pubsub,
            self.tracking,
            self.latency_events,
            self.agenda,
            self.stream_policies,
            self.stream_index,
        )
        self.hot_keys = HotKeys(self.events.chance, self.events.clock)
        self.large_commands = LargeCommands()
        self.command_times = CommandTimes(self.slow_log, self.latency_events, self.hot_keys)
        self.access = Access(self.clients, self.tracking, self.blocking, self.events.clock)
        self.databases += [Keyspace(i, self.events) for i in range(config.databases)]
        self.key_sizes = KeySizes(self.databases, time.monotonic)
        self.survey = Survey(self.databases, self.stream_index, self.events.clock, time.monotonic)
        self.memory.started()
        self.persistence = Persistence(
            config,
            self.databases,
            self.events,
            self.propagation,
            files=machine.files,
            threads=machine.threads,
            monotonic_s=time.monotonic,
            unix_s=self.clock.unix_s,
            functions=self.scripting,
            latency_events=self.latency_events,
            report=self.supervision.saving,
            processes=machine.processes,
        )
        self.replication = Replication(config, self.databases, self.propagation, self.persistence)
        self.replay_failures = ReplayFailures()
        self.key_eviction = KeyEviction(
            self.databases, self.events, self.memory, self.propagation, self.latency_events
        )
        self.restrictions = Restrictions(
            self.memory,
            self.pausing,
            self.persistence,
            self.replication,
            self.events,
            self.key_eviction,
        )
        self.value_packing = ValuePacking(self.databases, self.events.loose_keys)
        self.stream_compaction = StreamCompaction(self.databases)
        self.hash_imports = HashImports(self.memory)
        self.client_eviction = ClientEviction(self.clients, self.memory, self.events.clock)
        self.parts: list[Part] = [
            self.memory,
            self.node_limits,
            self.stats,
            self.command_stats,
            self.loop_times,
            self.loop_lag,
            self.blocking,
            self.agenda,
            self.watching,
            self.pausing,
            self.pubsub,
            self.events.notifications,
            self.events.removals,
            self.stream_policies,  # they hear of new keys even if nobody is notified
            self.stream_index,  # and so does it, even if they do not
            self.tracking,
            self.access,
            self.monitors,
            self.slow_log,
            self.large_commands,
            self.hot_keys,
            self.key_sizes,
            self.survey,
            self.latency_events,
            self.scripting,
            self.command_times,  # it depends on both of them
            self.replication,
            self.replication.confirmations,
            self.replay_failures,
            self.restrictions,  # they depend on the memory's limit, and on the replicas
            self.key_eviction,
            self.client_eviction,
            self.value_packing,
            self.stream_compaction,
            self.hash_imports,
        ]
        self.follow_config()

    def all_clients(self) -> list[Client]:
        """Those that have connected, and the link to our primary. O(clients)."""
        link = self.replication.link
        return [*self.clients.values(), *([] if link is None else [link])]

    # ------------------------------------------------------------------ what all parts are told

    def clock_moved(self) -> None:
        """To be called when DEBUG CLOCK has moved the clock, and commands see the new time."""
        for part in self.parts:
            part.clock_moved(self.events.clock.now_ms)

    def follow_config(self) -> None:
        """To be called when parameters have changed."""
        for part in self.parts:
            part.configured(self.config)

    def client_left(self, client: Client) -> None:
        """The connection of *client* is closed."""
        for part in self.parts:
            part.client_left(client)

    def empty(self, databases: Sequence[Keyspace]) -> int:
        """Remove all keys of *databases*; return how many there were. O(N).

        Clients that wait for or watch a key are not told if its database was empty already.
        """
        keys = 0
        for db in filter(len, databases):
            for part in self.parts:
                part.emptying((db,))
            keys += db.clear()
            for part in self.parts:
                part.emptied((db,))
        self.tracking.flushed()
        return keys

    def swap(self, one: Keyspace, other: Keyspace) -> None:
        """Exchange all keys of two databases. O(keys that are watched or waited for)."""
        for part in self.parts:
            part.emptying((one, other))
        one.swap(other)
        for part in self.parts:
            part.emptied((one, other))

    def reset_statistics(self) -> None:
        """Reset the counters: CONFIG RESETSTAT."""
        for part in self.parts:
            part.statistics_reset()
        self.events.hits = self.events.misses = 0
        self.events.expired = self.events.expired_fields = 0
