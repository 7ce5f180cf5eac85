"""The keys whose last change is not confirmed yet, each with the offset after that change.

There is a table only while a connection waits for confirmations (CLIENT ACKS): what it reads has to
wait, too, if a failover could still take it back.

    newer   {key: offset, ..}  of each database     changed since *older_end*
    older   {key: offset, ..}                       changed before
    all     the offset after the last change that does not name its keys (FLUSHALL, MOVE)

An entry is looked at by its offset, so it may stay for a while after it has been confirmed. When
all of *older* is, it goes as a whole, and *newer* takes its place: nothing is searched.

With more than MOST_KEYS in *newer*, as while a replica is away, all keys count as changed at the
last offset: reads wait longer than they would have to, and the table takes no more memory.
"""

from __future__ import annotations

from server.parts.propagation.propagation import Op
from server.table.command import TABLE, Command, Flags

CHANGES = int(Flags.WRITE | Flags.READONLY)  # PFCOUNT is sent when it keeps its estimate
READS_OTHERS = int(Flags.READS_OTHERS)

MOST_KEYS = 100_000
MANY_KEYS = 256  # fewer are not worth a change of tables


class UnconfirmedKeys:
    """Notes what the feed is given; *last* is the offset after the last change of data."""

    __slots__ = (
        "_all", "_command", "_count", "_forgotten", "_name", "_newer", "_newer_end", "_older",
        "_older_end", "last",
    )  # fmt: skip

    def __init__(self) -> None:
        self._name: bytes | None = None  # of the command that was looked up last
        self._command: Command | None = None
        self.clear()

    def clear(self) -> None:
        """Forget all: another history begins."""
        self._newer: list[dict[bytes, int]] = [{}]
        self._older: list[dict[bytes, int]] = []
        self._newer_end = self._older_end = self._all = 0
        self._forgotten = 0  # entries up to here may have gone: all who ask had confirmed them
        self._count = 0  # of entries made in newer
        self.last = 0

    def note(self, ops: list[Op], offset: int) -> None:
        """*ops* have been added to the history, which is *offset* bytes long now."""
        for db, words in ops:
            command = self._command
            if words[0] is not self._name or command is None:
                command = self._look_up(words)
            if command is not None and not command.flags & CHANGES:
                continue  # a message
            self.last = self._newer_end = offset
            if command is not None and command.flags & READS_OTHERS and _leaves_database(words):
                self._all = offset
                continue
            if command is not None and command.one_key_at:
                self._put(db, words[command.one_key_at], offset)
                continue
            uses = [] if command is None else command.keys_of(words)
            for use in uses:
                self._put(db, use[0], offset)
            if not uses:
                self._all = offset

    def all_changed(self, offset: int) -> None:
        """Whatever is there by now, up to *offset*, is not known to be confirmed."""
        self._all = self.last = self._newer_end = offset

    def _look_up(self, words: list[bytes]) -> Command | None:
        """The command; None if it has a name that rename-command has given it."""
        command = TABLE.called_by(words)
        if command is not None and command.stands_alone():
            self._name, self._command = words[0], command
        return command

    def _put(self, db: int, key: bytes, offset: int) -> None:
        while len(self._newer) <= db:
            self._newer.append({})
        self._newer[db][key] = offset
        self._count += 1
        if self._count > MOST_KEYS:
            self._count = sum(map(len, self._newer))
            if self._count > MOST_KEYS:
                self._newer, self._older, self._count = [{}], [], 0
                self._all = offset

    def offset_of(self, db: int, key: bytes) -> int:
        """Where the history ended after the last change of *key*; 0: that is confirmed."""
        found = None
        if db < len(self._newer):
            found = self._newer[db].get(key)
        if found is None and db < len(self._older):
            found = self._older[db].get(key)
        return self._all if found is None or found < self._all else found

    def confirmed(self, offset: int) -> None:
        """All up to *offset* is confirmed, at every level that somebody asks for."""
        if offset >= self._newer_end:
            if self._count or self._older:
                self._newer, self._older, self._count = [{}], [], 0
            self._forgotten = self._newer_end
        elif offset >= self._older_end and self._count > MANY_KEYS:
            self._forgotten = self._older_end
            self._older, self._older_end = self._newer, self._newer_end
            self._newer, self._count = [{}], 0

    def recall(self, offset: int) -> None:
        """Somebody asks for whom only *offset* is confirmed: what was forgotten waits for him."""
        if offset < self._forgotten:
            self._all = max(self._all, self._forgotten)

    def __len__(self) -> int:
        """How many entries there are."""
        return sum(map(len, self._newer)) + sum(map(len, self._older))


def _leaves_database(words: list[bytes]) -> bool:
    """Whether *words* change a key of another database: MOVE does, and COPY with DB."""
    name = words[0].upper()
    return name == b"MOVE" or (name == b"COPY" and len(words) > 4)  # COPY a b REPLACE does not
