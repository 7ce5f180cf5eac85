"""CLIENT TRACKING: clients that keep in a cache what they read hear when it has changed.

    A: GET k     the table has: k was read by A        tracking_table.py
    B: SET k v   A is told, and the table forgets k    invalidation.py
    A: GET k     ... again

With BCAST nothing is remembered: a client is told of all keys with its prefixes (broadcasts.py).

A client that speaks RESP3 is told on its own connection. Others name a connection of theirs that is
told instead: REDIRECT.
"""

from __future__ import annotations

from server.client.client import TOLD, TRACKING, Client
from server.client.disjoint_prefixes import DisjointPrefixes
from server.client.pushes import Pushes
from server.client.tracking_options import NOT_TRACKING, TrackingOptions
from server.config.parameters import Config
from server.observe.memory import Memory
from server.observe.part import Part
from server.parts.tracking.broadcasts import Broadcasts
from server.parts.tracking.invalidation import Invalidation, redirection_broken
from server.parts.tracking.tracking_table import TrackingTable
from server.table.command import Command, Flags
from storage.chance import Chance

READONLY = int(Flags.READONLY)
RUNS_SCRIPTS = int(Flags.RUNS_SCRIPTS)
PREFIX_BYTES = 410  # bytes that a prefix of one client takes besides its text
EFFORT = 100  # keys that are forgotten at most because of one command, and in a first tick of cron
NOBODYS = (b"expired", b"evicted")  # the events of changes that no client has made


class Tracking(Part):
    """The tracking clients, the table, the prefixes. *hears* is read for each change of a key.

    *clients* are all clients by their ids.
    """

    __slots__ = (
        "_chance",
        "_clients",
        "_effort",
        "_memory",
        "_most_keys",
        "_pushes",
        "_tracking",
        "broadcasts",
        "hears",
        "table",
    )

    def __init__(
        self,
        clients: dict[int, Client],
        pushes: Pushes,
        memory: Memory,
        chance: Chance,
    ) -> None:
        self._clients = clients
        self._pushes = pushes
        self._memory = memory
        self._chance = chance
        self._tracking: dict[Client, None] = {}
        self._most_keys = 0  # 0: any number
        self._effort = EFFORT
        self.hears = False
        self.table = TrackingTable()
        self.broadcasts = Broadcasts(self._tell)

    # ------------------------------------------------------------------ who tracks

    def start(self, client: Client, options: TrackingOptions, prefixes: list[bytes]) -> None:
        """Track for *client*, during its own command, or change its options.

        *prefixes* are added to those that it has; none may overlap, but that the empty one may be
        there already, or besides others. O(prefixes * log).
        """
        options.prefixes = client.tracking.prefixes
        if prefixes and not options.prefixes:
            options.prefixes = DisjointPrefixes()
        client.tracking = options
        client.set_flag(TRACKING)
        self._tracking[client] = None
        self.hears = True
        for prefix in prefixes:
            if prefix in options.prefixes:
                continue
            options.prefixes.add(prefix)
            self.broadcasts.add_prefix(client, prefix)
            self._memory.hold(client, PREFIX_BYTES + len(prefix))
        if options.redirect:
            self._clients[options.redirect].set_flag(TOLD)
        self._pushes.begin_command(client)

    def stop(self, client: Client) -> None:
        """Track no more for *client*. What it has read is known if it begins again."""
        if not client.flags & TRACKING:
            return
        for prefix in client.tracking.prefixes:
            self.broadcasts.remove_prefix(client, prefix)
            self._memory.hold(client, -PREFIX_BYTES - len(prefix))
        client.tracking = NOT_TRACKING
        client.clear_flag(TRACKING)
        del self._tracking[client]
        self.hears = bool(self._tracking)

    def client_left(self, client: Client) -> None:
        """Track no more for *client*. If nobody is left to be told, the table goes."""
        self.stop(client)
        if not self._tracking and len(self.table):
            self.table.clear()

    # ------------------------------------------------------------------ what is read

    def command_ran(self, client: Client, command: Command, argv: list[bytes]) -> None:
        """Remember the keys that *client*, which tracks, has read. O(keys).

        Of a script these are the keys that its commands have read, and not those it has declared.
        """
        options = client.tracking
        reads = command.flags & READONLY and not command.flags & RUNS_SCRIPTS
        if not reads or options.broadcasts or options.skips_next:
            return
        for use in command.keys_of(argv):
            self.table.remember(use.key, client.id)
        if self._is_over_limit():
            self._forget_some(EFFORT)

    def command_done(self, client: Client) -> None:
        """The command of *client*, which tracks, is answered: CLIENT CACHING was for it alone.

        It holds for a whole transaction; and CLIENT's own commands leave it as it is.
        """
        name = "" if client.last_command is None else client.last_command.name
        if client.tracking.caching and not client.in_multi and not name.startswith("client"):
            client.tracking.caching = False

    # ------------------------------------------------------------------ what has changed

    def changed(self, key: bytes, event: bytes | None) -> None:
        """*key* has changed: tell those who have read it, and then forget them. O(readers)."""
        running = self._pushes.running
        if self.broadcasts:
            self.broadcasts.changed(key, None if event in NOBODYS else running)
        self._forget(key)

    def _forget(self, key: bytes) -> None:
        message = None
        for client_id in self.table.take(key):
            client = self._clients.get(client_id)
            if client is None or not client.flags & TRACKING or client.tracking.broadcasts:
                continue
            if client.tracking.no_loop and client is self._pushes.running:
                continue
            message = message or Invalidation([key])
            self._tell(client, message)

    def flushed(self) -> None:
        """All keys of some databases have gone: tell everybody, and forget the table."""
        everything = Invalidation(None)
        for client in list(self._tracking):
            self._tell(client, everything)
        self.table.clear()

    def _tell(self, client: Client, message: Invalidation) -> None:
        """Send *message* to *client*, or to whom it has named."""
        if not client.tracking.redirect:
            if client.resp == 3:
                self._pushes.send_invalidation(client, message.encoded(3))
            return
        receiver = self._clients.get(client.tracking.redirect)
        if receiver is None:  # it has gone; a client that speaks RESP3 is told so itself
            client.tracking.broken = True
            if client.resp == 3:
                self._pushes.send_invalidation(client, redirection_broken(client.tracking.redirect))
        elif receiver.resp == 3 or receiver.is_subscribed:
            self._pushes.send_invalidation(receiver, message.encoded(receiver.resp))

    # ------------------------------------------------------------------ the limit

    def configured(self, config: Config) -> None:
        self._most_keys = config.tracking_table_max_keys

    def _is_over_limit(self) -> bool:
        return 0 < self._most_keys < len(self.table)

    def _forget_some(self, most: int) -> None:
        """Forget keys by chance, *most* at most, until the table has no more than it may have."""
        while most and self._is_over_limit():
            key = self.table.random_key(self._chance)
            assert key is not None
            self._forget(key)
            most -= 1

    def tick(self, now_ms: int) -> None:
        """A limit that was lowered is reached step by step, and each step is twice the last one."""
        if self._is_over_limit():
            self._forget_some(self._effort)
            self._effort *= 2
        else:
            self._effort = EFFORT

    @property
    def clients(self) -> int:
        """How many have what they read tracked."""
        return len(self._tracking)
