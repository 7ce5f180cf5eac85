"""What holds for a stream: its own policy, and the first pattern of stream-policy for its name.

    stream-policy logs:* RETAIN-AGE 7d                   in redis.conf, any number of lines
    XCFGSET logs:app RETAIN-LENGTH 1000                  both hold; of one word, the stream's own

storage/side_data/stream_policy.py has the words, and lifecycle/retention.py carries them out. Cron
looks at the keys that a database has in *tended*: a stream with a policy of its own is entered when
that is put beside it, one that a pattern names when its key is new. What is there when patterns
change, or was loaded, is found by a walk over all keys, some at a time. An XADD pays for none of
that.
"""

from __future__ import annotations

from collections.abc import Sequence

from server.config.parameters import Config
from server.observe.part import Part
from storage import glob
from storage.keyspace.keyspace import Keyspace
from storage.side_data.stream_policy import STREAM_POLICY, StreamPolicy
from storage.stream.stream import Stream

PAGE = 100  # keys that the walk looks at in one step


class StreamPolicies(Part):
    """The patterns. *generation* counts their changes."""

    __slots__ = ("_cursors", "_databases", "_given", "_patterns", "generation")

    def __init__(self, databases: Sequence[Keyspace]) -> None:
        self._databases = databases
        self._given: list[tuple[str, ...]] = []
        self._patterns: list[tuple[bytes, StreamPolicy]] = []
        self._cursors: dict[int, int] = {}  # of the databases that the walk has yet to go over
        self.generation = 0

    def configured(self, config: Config) -> None:
        if config.stream_policy != self._given:
            self._given = config.stream_policy
            self._patterns = [_read(words) for words in self._given]
            self.generation += 1
            self.look_again()
        if self._patterns:
            for db in self._databases:
                db.events.tells_new_keys = True

    def emptied(self, databases: Sequence[Keyspace]) -> None:
        if len(databases) == 1 or self._cursors:  # else they were exchanged, with what is tended
            self._look_at(databases)

    # ------------------------------------------------------------------ what holds

    def own(self, db: Keyspace, key: bytes) -> StreamPolicy | None:
        """The policy that was set for the stream at *key* itself."""
        side = db.side.get(key)
        policy: StreamPolicy | None = None if side is None else side.get(STREAM_POLICY)
        return policy

    def of_name(self, key: bytes) -> StreamPolicy | None:
        """What the configuration says for a stream of that name. O(patterns)."""
        for pattern, policy in self._patterns:
            if glob.match(pattern, key):
                return policy
        return None

    def in_force(self, db: Keyspace, key: bytes) -> StreamPolicy | None:
        """What holds for the stream at *key*; None if it gives up nothing by itself."""
        own, by_name = self.own(db, key), self.of_name(key)
        policy = by_name if own is None else own.over(by_name)
        return None if policy is None or policy.does_nothing else policy

    # ------------------------------------------------------------------ which keys

    def added(self, db_index: int, key: bytes) -> None:
        """*key* is new."""
        if self._patterns:
            self._enter(self._databases[db_index], key)

    def _enter(self, db: Keyspace, key: bytes) -> None:
        if self.of_name(key) is not None and isinstance(db.table.get(key), Stream):
            db.tended.setdefault(key, None)

    def look_again(self) -> None:
        """Look at the names of all keys, when there is time."""
        self._look_at(self._databases)

    def _look_at(self, databases: Sequence[Keyspace]) -> None:
        if self._patterns:
            self._cursors.update(dict.fromkeys((db.index for db in databases), 0))

    @property
    def is_looking(self) -> bool:
        """Whether there are names that were not looked at."""
        return bool(self._cursors)

    def look(self) -> None:
        """Look at some of these names. O(PAGE)."""
        index, cursor = next(iter(self._cursors.items()))
        db = self._databases[index]
        cursor, keys = db.table.scan(cursor, PAGE)
        for key in keys:
            self._enter(db, key)
        if cursor:
            self._cursors[index] = cursor
        else:
            del self._cursors[index]


def _read(words: tuple[str, ...]) -> tuple[bytes, StreamPolicy]:
    """The pattern, and the policy, in *words*, which have been checked."""
    pattern, *rest = (word.encode("utf-8", "surrogateescape") for word in words)
    policy = StreamPolicy()
    for word, value in zip(rest[::2], rest[1::2], strict=True):
        policy.set(word.upper(), value)
    return pattern, policy
