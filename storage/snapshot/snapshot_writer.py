"""Writes a whole RDB file: all databases at one moment.

    header   "REDIS" 4 digits, or "VALKEY" 3 digits
    records  FA  name  text                       aux: who wrote it, when, ...
             F5  code                             a library of functions
             FE  database                         the keys that follow are of that database
             FB  keys  expiring                   how many keys follow, and how many of them expire
             [FA  "penstock-side-data"  record]   the side data of the key that follows
             [FC  expiry in unix ms, 8 bytes]     of the key that follows
             [F8  idle seconds, a length]         of the next key; written under an LRU policy
             [F9  frequency, a byte]              of the next key; written under an LFU policy
             [FA  "penstock-beside-value"  bytes] what the value's RDB type has no place for
             type  key  value
             [FA  "penstock-sums"  sums]          of parts of the file before it: part_sums.py
    end      FF  checksum                         CRC-64, 8 bytes; 0 if there is none

Numbers are RDB lengths and texts are RDB strings where nothing else is said.

Source: rdb.c of Redis 7.0
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from storage import types, value_type
from storage.keyspace.key_table import KeyTable
from storage.keyspace.keyspace import Keyspace
from storage.keyspace.usage import Usage
from storage.rdb import borrowed, crc64, opcodes
from storage.rdb.options import WriteOptions
from storage.rdb.writer import RdbWriter
from storage.side_data import side_data
from storage.side_data.side_data import SideData
from storage.snapshot import part_sums
from storage.snapshot.key_walk import KeyWalk
from storage.value_type import ValueType

PIECE = 1 << 16  # bytes

# Why _fill() returns.
NO_MORE = 0  # all keys of the database were written
FULL = 1  # the piece is full
BEGUN = 2  # the attributes of a key were written; its value has to be written in steps
EXPIRE_MS = opcodes.EXPIRE_MS
IDLE = opcodes.IDLE
FREQ = opcodes.FREQ
NO_EXPIRY = -1


class SnapshotWriter:
    """Iterates over the bytes of a snapshot, in pieces of about 64 KB.

    A node of a stream or list is never divided, so a piece may be longer by one node. The databases
    must not change meanwhile. Expired keys are written too, with their expiry: the reader decides
    about them. Raises UnregisteredClass for a value of no known type.
    """

    def __init__(
        self,
        databases: Sequence[Keyspace],
        aux: Mapping[bytes, bytes],
        options: WriteOptions = WriteOptions(),  # noqa: B008  never changes
        libraries: Sequence[bytes] = (),
    ) -> None:
        self.keys_written = 0
        self.keys_total = sum(len(db) for db in databases)
        self._databases = databases
        self._aux = aux
        self._libraries = libraries  # the texts of functions
        self._checksum = options.checksum
        self._writer = RdbWriter(options.compress, options.version)
        self._crc = 0
        self._taken = 0  # bytes of all pieces so far
        self._sums: list[part_sums.Sum] = []  # of pieces that no aux field has told of
        self._class = borrowed.nothing()  # of the value that was written last ...
        self._type: ValueType = types.ROWS[0]  # ... and its type: most neighbours have the same

    def __iter__(self) -> Iterator[bytes]:
        self._write_head()
        for db in self._databases:
            if len(db):
                yield from self._database(db)
        assert self.keys_written == self.keys_total, "the databases have changed meanwhile"
        self._writer.byte(opcodes.EOF)
        yield self._piece()
        self._writer.u64(self._crc)
        yield self._writer.take()

    def _piece(self) -> bytes:
        """Take what was written since the last call, and add it to the checksum."""
        piece = self._writer.take()
        if self._checksum:
            self._crc = crc64.crc64(piece, self._crc)
            self._taken += len(piece)
            self._sums.append((self._taken, self._crc))
        return piece

    def _write_head(self) -> None:
        writer = self._writer
        version = min(writer.version, opcodes.WRITTEN_VERSION)
        writer.plain(b"%b%04d" % (opcodes.MAGIC, version))
        for name, text in self._aux.items():
            writer.byte(opcodes.AUX)
            writer.string(name)
            writer.string(text)
        for text in self._libraries:
            writer.byte(opcodes.FUNCTION)
            writer.string(text)

    def _database(self, db: Keyspace) -> Iterator[bytes]:
        writer = self._writer
        writer.byte(opcodes.SELECT_DB)
        writer.length(db.index)
        writer.byte(opcodes.RESIZE_DB)
        writer.length(len(db))
        writer.length(len(db.expiring))
        walk = KeyWalk(db.table)
        while (why := self._fill(walk, db.expiring, db.events.usage, db.side)) != NO_MORE:
            if why == FULL:
                yield self._piece()
                continue
            for _ in self._write_in_steps(walk.current_key(), walk.current_value()):
                if writer.size >= PIECE:
                    yield self._piece()
            self.keys_written += 1

    def _fill(
        self, walk: KeyWalk, expiring: KeyTable, usage: Usage, side: dict[bytes, SideData]
    ) -> int:
        """Write keys until the piece is full (FULL), or until there are no more (NO_MORE).

        BEGUN: a value has to be written in steps, before anything else is written. *walk* stands at
        its key, and the piece may be full of its attributes.
        """
        writer = self._writer
        if self._sums:
            writer.byte(opcodes.AUX)
            writer.string(part_sums.AUX)
            writer.string(part_sums.text_of(self._sums))
            self._sums.clear()
        while writer.size < PIECE:
            if not walk.step():
                return NO_MORE
            beside = side.get(walk.current_key()) if side else None
            if beside is not None:
                writer.byte(opcodes.AUX)
                writer.string(side_data.AUX)
                writer.string(beside.record())
            expiry_ms = expiring.number(walk.current_key()) if expiring.used else NO_EXPIRY
            if expiry_ms != NO_EXPIRY:
                writer.byte(EXPIRE_MS)
                writer.i64(expiry_ms)
            if usage.is_saved:
                self._write_usage(walk.last_use(), usage)
            if borrowed.class_of(walk.value) is not self._class:
                self._class = borrowed.class_of(walk.value)
                self._type = types.of_class(borrowed.held(self._class))
            if not self._type.write_at_once(writer, walk.key, walk.value):
                return BEGUN
            self.keys_written += 1
        return FULL

    def _write_usage(self, last_use: int, usage: Usage) -> None:
        if usage.counts:
            self._writer.byte(FREQ)
            self._writer.byte(usage.frequency(last_use))
        else:
            self._writer.byte(IDLE)
            self._writer.length(usage.idle_s(last_use))

    def _write_in_steps(self, key: bytes, value: object) -> Iterator[None]:
        kind, writer = types.of(value), self._writer
        record = kind.beside(value, writer.version)
        if record:
            writer.byte(opcodes.AUX)
            writer.string(value_type.BESIDE)
            writer.string(record)
        writer.byte(kind.rdb_code_in(value, writer.version))
        writer.string(key)
        return kind.write_value(writer, value)
