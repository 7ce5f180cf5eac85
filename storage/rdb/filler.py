"""Puts the keys of a snapshot into databases, some at a time."""

from __future__ import annotations

from collections.abc import Sequence

from storage.errors import Corrupt
from storage.keyspace import Keyspace
from storage.rdb.snapshot import Record, SnapshotReader

NO_EXPIRY = -1


class Filler:
    """Fills *databases* and counts: *keys_loaded*, and *keys_expired*, which were left out.

    Keys past their time at *now_ms* (unix time) are left out, unless *keeps_expired*. A key that is
    there already is a second one in the snapshot, and so Corrupt; unless *replaces*: then the
    databases were not empty, and the key of the snapshot takes its place. Nobody who waits for a
    key is told.
    """

    __slots__ = (
        "_databases",
        "_keeps_expired",
        "_now_ms",
        "_replaces",
        "keys_expired",
        "keys_loaded",
    )

    def __init__(
        self,
        databases: Sequence[Keyspace],
        now_ms: int,
        keeps_expired: bool = False,
        replaces: bool = False,
    ) -> None:
        self._databases = list(databases)
        self._now_ms = now_ms
        self._keeps_expired = keeps_expired
        self._replaces = replaces
        self.keys_loaded = 0
        self.keys_expired = 0

    def fill(self, reader: SnapshotReader, keys: int) -> bool:
        """Take that many keys from *reader*; fewer if one is no string, for that may be large.

        False at the end of the snapshot. Raises what the reader does, and Corrupt for a database
        that there is not.
        """
        for _ in range(keys):
            record = reader.read()
            if record is None:
                return False
            if not self._keeps_expired and NO_EXPIRY != record.expiry_ms < self._now_ms:
                self.keys_expired += 1
            else:
                self._put(record)
                self.keys_loaded += 1
            kind = type(record.value)
            if kind is not bytes and kind is not int:
                break
        return True

    def _put(self, record: Record) -> None:
        if record.db >= len(self._databases):
            raise Corrupt(
                f"it has keys in database {record.db}, and only {len(self._databases)} databases "
                "are there: raise the parameter 'databases'"
            )
        db = self._databases[record.db]
        table = db.table
        keys = table.used
        table.set(record.key, record.value)
        if table.used == keys:
            if not self._replaces:
                raise Corrupt(f"it has the key {record.key!r} of database {record.db} twice")
            db.persist(record.key)
        if record.expiry_ms != NO_EXPIRY:
            db.expire_at(record.key, record.expiry_ms)
