"""Puts the keys of a snapshot into databases, some thousands at a time.

The keys of a snapshot are in no useful order, and a table of millions of keys does not fit the
processor's caches: each insertion would wait for memory. So keys are read ahead, sorted into
shelves by the upper bits of their hashes, and inserted shelf by shelf. A table keeps its keys in
hash order (see storage/keyspace/key_table.py), so the part of it that one shelf needs is small.
"""

from __future__ import annotations

from collections.abc import Sequence

from storage.errors import Corrupt
from storage.keyspace.keyspace import Keyspace
from storage.side_data.side_data import side_data_in
from storage.snapshot.snapshot_reader import Record, SnapshotReader

NO_EXPIRY = -1
MOST_KEYS = 1 << 13  # that are read ahead
MOST_BYTES = 1 << 20  # of the snapshot, too
SHELF_BITS = 8
TOP = 64 - SHELF_BITS  # a hash has 64 bits
SHELVES = 1 << SHELF_BITS


class Filler:
    """Fills *databases* and counts: *keys_loaded*, and *keys_expired*, which were left out.

    Keys that have expired at *now_ms* (unix time) are left out, unless *keeps_expired*. A key that
    is already there must be twice in the snapshot, so Corrupt is raised; with *replaces* the
    databases may hold keys at the start, and the snapshot's keys replace them. Blocked clients are
    not woken. The last use of a key is now, or what its record says.
    """

    __slots__ = (
        "_databases",
        "_keeps_expired",
        "_now_ms",
        "_replaces",
        "_shelves",
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
        self._shelves: list[list[Record]] = [[] for _ in range(SHELVES)]
        self.keys_loaded = 0
        self.keys_expired = 0

    def fill(self, reader: SnapshotReader) -> bool:
        """Insert the keys of about a megabyte of the snapshot, or one value that is larger.

        False at the end of the snapshot. Raises what the reader does, and Corrupt for a database
        that there is not.
        """
        more = self._read_ahead(reader)
        for shelf in self._shelves:
            for record in shelf:
                self._put(record)
            shelf.clear()
        for db in self._databases:
            db.pack(db.loose)
        return more

    def _read_ahead(self, reader: SnapshotReader) -> bool:
        """Sort keys into the shelves. False at the end of the snapshot."""
        stop = reader.position + MOST_BYTES
        for _ in range(MOST_KEYS):
            record = reader.read()
            if record is None:
                return False
            if not self._keeps_expired and NO_EXPIRY != record.expiry_ms < self._now_ms:
                self.keys_expired += 1
            else:
                shelf = self._shelves[hash(record.key) >> TOP & (SHELVES - 1)]
                shelf.append(record)
            if record.end >= stop:
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
        usage = db.events.usage
        table.set(record.key, record.value, usage.of_loaded_key(record.idle_s, record.freq))
        if table.used == keys:
            if not self._replaces:
                raise Corrupt(f"it has the key {record.key!r} of database {record.db} twice")
            db.persist(record.key)
        if record.expiry_ms != NO_EXPIRY:
            db.expire_at(record.key, record.expiry_ms)
        if record.field_expiry_ms != NO_EXPIRY or self._replaces:
            db.expire_fields_at(record.key, record.field_expiry_ms)
        if record.side is not None:
            db.put_side(record.key, side_data_in(record.side))
        elif self._replaces:
            db.put_side(record.key, None)
        self.keys_loaded += 1
