"""Confirmations: which clients wait until replicas have their changes, and for what (CLIENT ACKS).

    a command of such a client has run
        `-> ran()       it has changed something: its reply needs the history up to here
                        it has read keys: up to the last change of these (unconfirmed_keys.py)
    the reply is written, and marked        server/client/held_replies.py
    the turn ends: the changes leave, with one GETACK after them, and the reply is held
    REPLCONF ACK comes
        `-> acked()     each level is confirmed up to some offset: what it has confirmed leaves at
                        the end of this very turn

A *level* is what clients ask for: a number of replicas or a quorum (quorum.py), with or without
their disks and our own (own_disk.py). What was confirmed once stays so, even if the replicas that
had it have gone.

While there is such a client, the server keeps a backlog, and so an offset, even without a replica.

Only commands that read or change data wait, and scripts and EXEC, whatever these have done. A
command that reads without keys (SCAN, FUNCTION LIST), or more than what is at its keys (SORT BY), a
script, and EXEC wait for the last change of all.
"""

from __future__ import annotations

from collections.abc import Callable

from protocol.replies import ErrorReply
from server.client.client import ACKS, Client
from server.client.end_of_turn import EndOfTurn
from server.client.endpoint import NO_ENDPOINT
from server.client.held_replies import HeldReplies, Level
from server.config.acks_options import QUORUM, AcksOptions
from server.config.parameters import Config
from server.observe.part import Part
from server.parts.replication.feed import Feed
from server.parts.replication.own_disk import OwnDisk
from server.parts.replication.quorum import Quorum, nth_largest
from server.parts.replication.replica import Replica
from server.parts.replication.replicas import Replicas
from server.parts.replication.unconfirmed_keys import UnconfirmedKeys
from server.table import errors
from server.table.command import Command, Flags

READS_ANY = int(Flags.RUNS_QUEUE | Flags.RUNS_SCRIPTS | Flags.READS_OTHERS)
DATA = int(Flags.WRITE | Flags.READONLY) | READS_ANY

NEVER = 2**62
MOST_FORMER = 8  # levels that one client's replies wait for: more are a load, and serve nobody
_MOST_FORMER = MOST_FORMER  # as a C number


class Confirmations(Part):
    """Knows all clients with ACKS. *now_ms* is the monotonic clock, which nothing moves.

    *lease_now_ms* is one that runs on while the machine is suspended: for all about the quorum.
    """

    __slots__ = (
        "_feed", "_has_lease", "_holding", "_levels", "_replicas", "is_used", "keys",
        "lease_now_ms", "now_ms", "quorum", "timeouts",
    )  # fmt: skip

    def __init__(
        self,
        config: Config,
        feed: Feed,
        replicas: Replicas,
        disk: OwnDisk,
        now_ms: Callable[[], int],
        lease_now_ms: Callable[[], int],
    ) -> None:
        self._feed = feed
        self._replicas = replicas
        self.now_ms = now_ms
        self.lease_now_ms = lease_now_ms
        self.quorum = Quorum(config, replicas, disk)
        self.keys = UnconfirmedKeys()
        self._levels: dict[tuple[int, bool], Level] = {}
        self._holding: dict[Client, None] = {}  # those of whom something is held
        self.is_used = False  # somebody has ACKS
        self._has_lease = False
        self.timeouts = 0  # replies that became errors

    # ------------------------------------------------------------------ who waits

    def use(self, client: Client, options: AcksOptions) -> None:
        """From its next command on, *client* is answered what replicas have confirmed."""
        held = client.acks
        if held is not None:
            held.is_on = True
            client.endpoint.set_apart()  # what this turn has answered waits as was asked for
            if client.acks is not held:
                return  # the connection is lost
        level = self._level(options.wanted, options.fsync)
        if held is None:
            level.users += 1
            client.acks = HeldReplies(level, options.timeout_ms, client.replicated_offset)
            client.set_flag(ACKS)
        else:
            if level is not held.level:
                level.users += 1
                self._change_level(client, held, level)
            held.timeout_ms = options.timeout_ms
        self._begin()

    def _level(self, wanted: int, fsync: bool) -> Level:
        level = self._levels.get((wanted, fsync))
        if level is None:
            level = self._levels[wanted, fsync] = Level(wanted, fsync)
            level.confirmed = self._confirmed_by(level)
            self.keys.recall(level.confirmed)
        return level

    def _change_level(self, client: Client, held: HeldReplies, level: Level) -> None:
        """*level* is for what comes; what waits by now waits for what was asked for before."""
        if not held.portions or len(held.former) == _MOST_FORMER:
            if held.portions:
                self._fail(client, NEVER, errors.NOT_CONFIRMED_CHANGED)
            self._leave_former(held)
            self._leave_level(held.level)
        else:
            held.former.append(held.level)
        held.level = level

    def _leave_former(self, held: HeldReplies) -> None:
        for level in held.former:
            self._leave_level(level)
        held.former.clear()

    def _leave_level(self, level: Level) -> None:
        level.users -= 1
        if not level.users:
            del self._levels[level.wanted, level.fsync]
            self.is_used = bool(self._levels)
            if not self.is_used:
                self._feed.keys = None
                self.keys.clear()

    def _begin(self) -> None:
        """Somebody waits: what is there by now counts as unconfirmed, as far as it is known."""
        if self.is_used:
            return
        self.is_used = True
        self._follow_feed()

    def _follow_feed(self) -> None:
        """Keep the table of keys on a primary, from here on."""
        self.keys.clear()
        self._feed.keys = None if self._feed.follows else self.keys
        if not self._feed.follows:
            if not self._feed.offset():
                self._feed.ping()  # at 0, who has all would look like who has nothing
            self.keys.all_changed(self._feed.offset())

    def resumed(self) -> None:
        """The server's data are those of a snapshot, at a place of a history."""
        if self.is_used:
            self._follow_feed()

    def stop(self, client: Client) -> None:
        """*client* waits no more after this command, once what is held of it has left."""
        if client.acks is not None:
            client.acks.is_on = False
            client.acks.stops = True

    def follow(self, client: Client) -> None:
        """Something is held of *client*, or nothing any more."""
        held = client.acks
        if held is None:
            return
        if held.portions:
            self._holding[client] = None
            if self._feed.follows:
                self._fail(client, NEVER, errors.NOT_CONFIRMED_BEFORE)
            return
        self._holding.pop(client, None)
        self._leave_former(held)
        if not held.is_on and held.is_empty():
            client.acks = None
            client.clear_flag(ACKS)
            self._leave_level(held.level)

    def forget(self, client: Client) -> None:
        """The connection of *client* is closed: what is held of it goes."""
        if client.acks is not None:
            client.acks.clear()
            client.acks.is_on = False
            self.follow(client)

    # ------------------------------------------------------------------ what replies need

    def ran(self, client: Client, command: Command, argv: list[bytes]) -> None:
        """*command* of *client*, which has ACKS, has run: find out what its reply needs."""
        held = client.acks
        if held is None:
            return
        offset = client.replicated_offset
        has_changed = offset != held.seen
        held.seen = offset
        touches_data = command.flags & DATA and (has_changed or held.reads)
        if touches_data and (held.is_on or held.stops):
            if not self._feed.follows:
                self._find_needs(client, held, command, argv, has_changed)
            elif command.flags & READS_ANY:  # EXEC: all else was refused on a replica
                held.needs = NEVER  # it has made the server one: nobody confirms it
        held.reads = True
        if held.stops:
            held.stops = False
            if not held.needs:
                self.follow(client)

    def _find_needs(
        self,
        client: Client,
        held: HeldReplies,
        command: Command,
        argv: list[bytes],
        has_changed: bool,
    ) -> None:
        offset = held.seen
        if self._has_lease and not has_changed and not self.has_lease:
            offset = self._feed.probe()
        elif not has_changed:
            if self.keys.last <= held.level.confirmed:
                return
            offset = self._last_change(client, command, argv)
        if offset > held.level.confirmed:
            held.needs = offset
            self._feed.ask_in_turn()

    def _last_change(self, client: Client, command: Command, argv: list[bytes]) -> int:
        """Where the history ended after the last change of what *command* has read."""
        if command.flags & READS_ANY:
            return self.keys.last
        if command.one_key_at:
            return self.keys.offset_of(client.db_index, argv[command.one_key_at])
        last = 0
        uses = command.keys_of(argv)
        for use in uses:
            last = max(last, self.keys.offset_of(client.db_index, use[0]))
        return last if uses else self.keys.last

    # ------------------------------------------------------------------ what replicas tell

    def acked(self, replica: Replica) -> None:
        """*replica* has told how far it is: some may be answered by that."""
        self.quorum.heard(replica, self.lease_now_ms())
        if self._levels:
            self._look()

    def _look(self) -> None:
        """See how far each level is confirmed, and let go of what has become so."""
        has_moved = False
        lowest = NEVER
        for level in self._levels.values():
            offset = self._confirmed_by(level)
            if offset > level.confirmed:
                level.confirmed = offset
                has_moved = True
            lowest = min(lowest, level.confirmed)
        if has_moved:
            self.keys.confirmed(lowest)
            for client in list(self._holding):
                if client.acks is not None and client.acks.is_confirmed():
                    self._release(client)

    def _confirmed_by(self, level: Level) -> int:
        if self._feed.follows:
            return 0
        if level.fsync:
            return min(self._by_replicas(level), self.quorum.disk.fsynced())
        return self._by_replicas(level)

    def _by_replicas(self, level: Level) -> int:
        if level.wanted == QUORUM:
            if self._has_lease and not self.has_lease:
                return 0  # what has just come may have been sent long ago
            return self.quorum.confirmed(level.fsync, self.lease_now_ms())
        offsets = [
            replica.fsynced if level.fsync else replica.acked for replica in self._replicas.each
        ]
        return nth_largest(offsets, level.wanted)

    def _release(self, client: Client) -> None:
        if client.endpoint is NO_ENDPOINT:
            self.forget(client)
        else:
            turn: EndOfTurn = self._feed.turn
            turn.send_later(client.endpoint)

    def synced(self) -> None:
        """The append-only file has been fsynced: some may have waited for that."""
        if self._levels:
            self._look()

    def replica_left(self, replica: Replica) -> None:
        """The connection of *replica* is closed."""
        self.quorum.left(replica, self.lease_now_ms())

    # ------------------------------------------------------------------ ends of waits

    def tick(self, now_ms: int) -> None:
        if self._has_lease and not self._feed.follows and self._replicas.online:
            asked_ms = self.lease_now_ms()
            self.quorum.asked(self._feed.probe(), asked_ms)
        if self._levels:
            self._look()  # a replica may count by now, or our own disk have it
        for client in list(self._holding):
            held = client.acks
            if held is not None and held.portions and held.portions[0].due_ms <= now_ms:
                self._fail(client, now_ms, _not_confirmed(held))

    def _fail(self, client: Client, before_ms: int, error: ErrorReply) -> None:
        assert client.acks is not None
        self.timeouts += client.acks.fail(before_ms, b"-%b\r\n" % str(error).encode())
        self._release(client)

    def role_changed(self) -> None:
        """The server has become a primary or a replica, or follows another one."""
        self.quorum.begin()
        for level in self._levels.values():
            level.confirmed = 0
        for client in list(self._holding):
            self._fail(client, NEVER, errors.NOT_CONFIRMED_BEFORE)
        if self.is_used:
            self._follow_feed()

    # ------------------------------------------------------------------ what parts are told

    def configured(self, config: Config) -> None:
        self._has_lease = config.replica_quorum_lease > 0

    def client_left(self, client: Client) -> None:
        if client.acks is not None:
            client.acks.is_on = False
            self.follow(client)

    def statistics_reset(self) -> None:
        self.timeouts = 0

    # ------------------------------------------------------------------ what is told

    @property
    def users(self) -> int:
        """Clients with ACKS."""
        return sum(level.users for level in self._levels.values())

    @property
    def held_clients(self) -> int:
        """Clients of whom something is held."""
        return len(self._holding)

    @property
    def held_bytes(self) -> int:
        """Bytes that are held. O(clients of whom something is held)."""
        return sum(client.acks.held_bytes for client in self._holding if client.acks is not None)

    @property
    def confirmed(self) -> int:
        """How much of the history is confirmed at all levels that are in use."""
        return min((level.confirmed for level in self._levels.values()), default=0)

    @property
    def has_lease(self) -> bool:
        """Whether there is no lease, or it holds now."""
        return self.quorum.holds(self.lease_now_ms())


def _not_confirmed(held: HeldReplies) -> ErrorReply:
    first = held.portions[0]
    return errors.not_confirmed(first.level.wanted, first.level.fsync, first.timeout_ms)
