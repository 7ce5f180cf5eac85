"""A replica of the fuzzed server: it runs what that one logs, and must come to the same data.

It has no socket and no clock of its own, and does nothing by itself: no key expires, no entry is
added or given up, but by a command of the log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from server.client.client import Client
from server.config.parameters import Config
from server.dispatch.dispatcher import Dispatcher
from server.following.role_changes import RoleChanges
from server.parts.propagation.propagation import Op
from server.parts.state import ServerState
from server.process.server_clock import NS_A_MS, ServerClock
from storage import digest, types
from storage.keyspace.keyspace import Keyspace
from storage.stream import stream_id
from storage.stream.pending import PARKED
from storage.stream.stream import Stream
from storage.value_type import Words

DEFAULTS = [b"IDMP-DURATION", b"100", b"IDMP-MAXSIZE", b"100"]


class Difference(Exception):
    """The replica has other data, or cannot run what was logged; says what."""


class FuzzedReplica:
    """Runs what a primary has logged. *now_ms* is the time of both."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        config = Config()
        config.save = []
        now_ns = lambda: now_ms() * NS_A_MS  # noqa: E731
        self._state = ServerState(config, ServerClock(now_ns, now_ns))
        self._dispatcher = Dispatcher(self._state, None)
        self._dispatcher.turn.enter()
        self._roles = RoleChanges(self._dispatcher, lambda: None)
        self._state.replication.follow("127.0.0.1", 1)
        self._client = Client(0, now_ms())

    def run(self, unit: Sequence[Op]) -> None:
        """Run a transaction of the log. Raises Difference."""
        self._dispatcher.turn.run(lambda: self._run(unit))

    def _run(self, unit: Sequence[Op]) -> None:
        if len(unit) > 1:
            self._apply([b"MULTI"])
        for db, argv in unit:
            self._apply([b"SELECT", b"%d" % db])
            self._apply(argv)
        if len(unit) > 1:
            self._apply([b"EXEC"])

    def _apply(self, argv: list[bytes]) -> None:
        failures = self._state.replay_failures
        before = failures.total
        self._dispatcher.replaying.apply(self._client, list(argv))
        if failures.total != before or failures.ends:
            raise Difference(f"the replica cannot run {argv!r}")

    def compare(self, databases: Sequence[Keyspace], with_counts: bool = True) -> None:
        """Raise Difference unless it holds the same.

        Without *with_counts*, pending entries may differ in when and how often they were delivered.
        """
        for database, other in zip(databases, self._state.databases, strict=True):
            if set(database.table) != set(other.table):
                keys = set(database.table) ^ set(other.table)
                raise Difference(f"keys that only one of both has: {keys!r}")
            now_ms = self._now_ms()
            for key in database.table:
                if database.expiry(key) != other.expiry(key):
                    raise Difference(f"{key!r} expires at another time at the replica")
                mine = list(shown(database, key, now_ms, with_counts))
                its = list(shown(other, key, now_ms, with_counts))
                if mine != its:
                    differ = [pair for pair in zip(mine, its, strict=False) if pair[0] != pair[1]]
                    raise Difference(
                        f"{key!r} is another value at the replica: {differ or (mine, its)!r}"
                    )

    def empty(self) -> None:
        """Remove all keys."""
        empty_all(self._state)


def empty_all(state: ServerState) -> None:
    """Remove all keys, and the room that a table keeps whose last key has been removed.

    No database is empty, so that none is passed over.
    """
    for database in state.databases:
        if not len(database):
            database.add(b"key", b"value")
    state.empty(state.databases)


def shown(
    database: Keyspace, key: bytes, now_ms: int, with_counts: bool = True
) -> Iterator[object]:
    """What there is to compare: of a stream also its groups, its ids, and what it does itself."""
    value = database.table.get(key)
    if not isinstance(value, Stream):
        yield digest.of_key(database, key)
        return
    claimed: list[Words] = []
    released: list[tuple[bytes, bytes, bytes, bool]] = []
    for words in types.of(value).commands(key, value):
        if words[0] == b"XCLAIM":
            claimed.append(words if with_counts else [*words[:6], b"TIME", b"0"])
        elif words[0] == b"XNACK":
            released += _released(words, now_ms)
        elif words[0] == b"XSETID" and words[-1] == b"0-0":
            yield *words[:-1], b"0-1"  # no words set it to 0-0: that is how it is logged
        elif words[0] == b"XSETID":
            yield tuple(words)
        elif words[:2] == [b"XGROUP", b"CREATE"]:
            yield *words[:-1], min(int(words[-1]), value.entries_added)
        elif words[0] == b"XIDMPRECORD":
            if not _is_old(value, words, now_ms):
                yield words
        elif words[0] != b"XCFGSET" or words[2:] != DEFAULTS:  # which some forms of files have
            yield words
    yield sorted(claimed, key=_group_and_time)
    yield sorted(released)
    side = database.side.get(key)
    for words in () if side is None else side.commands(key):
        if words[0] != b"XEXPIREAT" or value.contains(stream_id.parse_id(words[3])):
            yield words  # each server forgets the deadlines of other entries in its own time


def _group_and_time(words: Words) -> tuple[bytes, int, bytes]:
    """What XCLAIM sorts by: in an RDB those of one time have no order."""
    return words[2], int(words[7]), words[5]


def _released(words: Words, now_ms: int) -> list[tuple[bytes, bytes, bytes, bool]]:
    """What XNACK says, in no order: a replica finds out later what is not held any more."""
    until_ms = int(words[-1]) if words[-2] == b"AT" else 0
    end = 6 + int(words[5])
    is_held = now_ms < until_ms != PARKED  # who reads finds out which lanes are ready
    return [(words[2], each, words[end + 1], is_held) for each in words[6:end]]


def _is_old(stream: Stream, words: Words, now_ms: int) -> bool:
    """Whether XIDMPRECORD says something that the one has forgotten, and the other soon will."""
    producers = stream.producers
    assert producers is not None
    return producers.find(words[2], words[3], now_ms) is None
