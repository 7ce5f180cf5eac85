"""A whole RDB file: all databases at one moment.

    header   "REDIS" 4 digits, or "VALKEY" 3 digits
    records  FA  name  text                       aux: who wrote it, when, ...
             F5  code                             a library of functions
             FE  database                         the keys that follow are of that database
             FB  keys  expiring                   how many they will be
             [FC  expiry in unix ms, 8 bytes]     about the key that follows; F8 and F9: its idle
             type  key  value                     seconds (a length) and frequency (a byte)
    end      FF  checksum                         CRC-64, 8 bytes; 0 if there is none

Numbers are RDB lengths and texts RDB strings where nothing else is said.

Source: rdb.c of Redis 7.0
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from storage.errors import Corrupt
from storage.keyspace.key_table import KeyTable
from storage.keyspace.keyspace import Keyspace
from storage.lists.quicklist import QuickList
from storage.rdb import borrowed, crc64, opcodes, values
from storage.rdb.errors import BadVersion
from storage.rdb.options import ReadOptions, WriteOptions
from storage.rdb.raw import Buffer
from storage.rdb.reader import RdbReader
from storage.rdb.walk import KeyWalk
from storage.rdb.writer import RdbWriter

PIECE = 1 << 16  # bytes
UNKNOWN = -1
I64_MAX = 2**63 - 1
FIRST_OPCODE = opcodes.FIRST_OPCODE
EXPIRE_MS = opcodes.EXPIRE_MS
EOF = opcodes.EOF


class SnapshotWriter:
    """Iterates over the bytes of a snapshot, in pieces of 64 KB or of one node of a value.

    The databases must not change meanwhile. Keys past their time are written too, with their
    expiry: who reads them decides.
    """

    def __init__(
        self,
        databases: Sequence[Keyspace],
        aux: Mapping[bytes, bytes],
        options: WriteOptions = WriteOptions(),  # noqa: B008  frozen
    ) -> None:
        self.keys_written = 0
        self.keys_total = sum(len(db) for db in databases)
        self._databases = databases
        self._aux = aux
        self._checksum = options.checksum
        self._writer = RdbWriter(options.compress)
        self._crc = 0

    def __iter__(self) -> Iterator[bytes]:
        self._write_head()
        for db in self._databases:
            if len(db):
                yield from self._database(db)
        assert self.keys_written == self.keys_total, "the databases have changed meanwhile"
        self._writer.byte(EOF)
        yield self._piece()
        self._writer.u64(self._crc)
        yield self._writer.take()

    def _piece(self) -> bytes:
        piece = self._writer.take()
        if self._checksum:
            self._crc = crc64.crc64(piece, self._crc)
        return piece

    def _write_head(self) -> None:
        writer = self._writer
        writer.plain(b"%b%04d" % (opcodes.MAGIC, opcodes.WRITTEN_VERSION))
        for name, text in self._aux.items():
            writer.byte(opcodes.AUX)
            writer.string(name)
            writer.string(text)

    def _database(self, db: Keyspace) -> Iterator[bytes]:
        writer = self._writer
        writer.byte(opcodes.SELECT_DB)
        writer.length(db.index)
        writer.byte(opcodes.RESIZE_DB)
        writer.length(len(db))
        writer.length(len(db.expiring))
        walk = KeyWalk(db.table)
        while self._fill(walk, db.expiring):
            if writer.size < PIECE:
                for _ in values.write(writer, walk.current_key(), walk.current_value()):
                    if writer.size >= PIECE:
                        yield self._piece()
            else:
                yield self._piece()

    def _fill(self, walk: KeyWalk, expiring: KeyTable) -> bool:
        """Write keys. False if there are no more.

        True when the piece is full, and if it is not, when the key at which *walk* stands has a
        value that is written in steps: the caller's task.
        """
        writer = self._writer
        while writer.size < PIECE:
            if not walk.step():
                return False
            self.keys_written += 1
            if expiring.used:
                self._write_expiry(borrowed.find(expiring, walk.key))
            if not values.write_at_once(writer, walk.key, walk.value):
                break
        return True

    def _write_expiry(self, expiry_ms: borrowed.Borrowed) -> None:
        if not borrowed.is_nothing(expiry_ms):
            self._writer.byte(EXPIRE_MS)
            self._writer.i64(borrowed.number(expiry_ms))


class Record:
    """A key as a snapshot has it."""

    __slots__ = ("db", "end", "expiry_ms", "freq", "idle_s", "key", "value")

    db: int
    key: bytes
    value: Any
    expiry_ms: int  # unix ms, or -1
    idle_s: int  # seconds since it was used, or -1
    freq: int  # how often it is used (LFU), or -1
    end: int  # the offset behind it


class SnapshotReader:
    """Iterates over the keys of a snapshot.

    *aux* has what was read of it so far, and *functions* the libraries of functions, which are not
    served here. *empty_keys* counts lists of nothing, which are passed over. *position* is how far
    the reader has come; at the end, *end* is the offset behind the snapshot.

    Raises Corrupt, saying where; UnknownType; BadVersion.
    """

    def __init__(
        self,
        data: Buffer,
        options: ReadOptions = ReadOptions(),  # noqa: B008  frozen
    ) -> None:
        self.aux: dict[bytes, bytes] = {}
        self.functions: list[bytes] = []
        self.modules = 0  # records of modules that were passed over
        self.empty_keys = 0
        self.version = 0
        self.checksummed = False  # whether there was a checksum to compare with; at the end
        self.end = UNKNOWN
        self._reader = RdbReader(data)
        self._checksum = options.checksum
        self._list_fill = options.list_fill
        self._db = 0
        self._crc = 0
        self._summed = 0  # bytes that are in _crc
        self._at = 0  # where the current record begins
        self._forget_attributes()
        self._read_header()

    def close(self) -> None:
        """Let go of the bytes."""
        self._reader.close()

    @property
    def position(self) -> int:
        """The offset of what will be read next."""
        return self._reader.position if self.end == UNKNOWN else self.end

    @property
    def key_at(self) -> int:
        """The offset at which the key that was read last begins."""
        return self._at

    def __iter__(self) -> SnapshotReader:
        return self

    def __next__(self) -> Record:
        record = self.read()
        if record is None:
            raise StopIteration
        return record

    def _forget_attributes(self) -> None:
        self._expiry_ms = self._idle_s = self._freq = UNKNOWN

    def _read_header(self) -> None:
        if self._reader.left() < opcodes.MAGIC_SIZE:
            raise BadVersion("too short to be an RDB")
        header = self._reader.plain(opcodes.MAGIC_SIZE)
        valkey = header.startswith(opcodes.VALKEY_MAGIC)
        magic = opcodes.VALKEY_MAGIC if valkey else opcodes.MAGIC
        digits = header[len(magic) :]
        if not header.startswith(magic) or not digits.isdigit():
            raise BadVersion("not an RDB: it does not begin with REDIS and a number")
        self.version = int(digits)
        if not opcodes.is_readable(self.version, valkey):
            raise BadVersion(f"an RDB of version {header.decode()}, which is not known here")

    def read(self) -> Record | None:
        """The next key, or None at the end."""
        try:
            return self._read_key()
        except Corrupt as error:
            raise Corrupt(
                f"{error}, in what begins at offset {self._at} and was read up to {self.position}"
            ) from None

    def _read_key(self) -> Record | None:
        """Pass records up to the next key."""
        reader = self._reader
        while True:
            self._at = reader.position
            code = reader.byte()
            if code < FIRST_OPCODE:
                key = reader.string()
                value = self._read_value(code, key)
                record = self._record(key, value)
                if type(value) is not QuickList or len(value):
                    return record
                self.empty_keys += 1
            elif code == EOF:
                self._finish()
                return None
            else:
                self._read_opcode(code)

    def _read_value(self, kind: int, key: bytes) -> Any:
        try:
            return values.read(self._reader, kind, key, self._list_fill)
        except Corrupt as error:
            raise Corrupt(f"{error}, in the value of the key {key!r}") from None

    def _record(self, key: bytes, value: Any) -> Record:
        """The record of a key that has been read; what was said of it is forgotten."""
        record = Record.__new__(Record)
        record.db = self._db
        record.key = key
        record.value = value
        record.expiry_ms = self._expiry_ms
        record.idle_s = self._idle_s
        record.freq = self._freq
        record.end = self._reader.position
        self._forget_attributes()
        if self._reader.position - self._summed >= PIECE:
            self._sum_up()
        return record

    def _read_opcode(self, code: int) -> None:
        reader = self._reader
        if code == EXPIRE_MS:
            self._expiry_ms = reader.i64()
        elif code == opcodes.EXPIRE_S:
            self._expiry_ms = 1000 * reader.u32()
        elif code == opcodes.IDLE:
            self._idle_s = min(reader.length(), I64_MAX)
        elif code == opcodes.FREQ:
            self._freq = reader.byte()
        elif code == opcodes.SELECT_DB:
            self._db = min(reader.length(), I64_MAX)
        elif code == opcodes.RESIZE_DB:
            reader.length()
            reader.length()
        elif code == opcodes.AUX:
            name = reader.string()
            self.aux[name] = reader.string()
        elif code == opcodes.FUNCTION:
            self.functions.append(reader.string())
        elif code == opcodes.MODULE_AUX:
            pass_module_aux(reader)
            self.modules += 1
        elif code == opcodes.SLOT_INFO:
            for _ in range(3):
                reader.length()
        elif code == opcodes.FUNCTION_PRE_GA:
            raise Corrupt("functions in the form of a release candidate of Redis 7.0")
        else:
            raise Corrupt("metadata of a module, or a slot that was being imported")

    def _sum_up(self) -> None:
        """Take what was read into the checksum, while it is still at hand."""
        self._crc = self._reader.crc(self._summed, self._crc)
        self._summed = self._reader.position

    def _finish(self) -> None:
        """Compare the checksum."""
        reader = self._reader
        if self.version >= opcodes.FIRST_CHECKED_VERSION:
            self._sum_up()
            checksum = reader.u64()
            self.checksummed = checksum != 0
            if self.checksummed and self._checksum and checksum != self._crc:
                raise Corrupt("the checksum is not that of what was read")
        self.end = reader.position


def pass_module_aux(reader: RdbReader) -> None:
    """Pass what a module has left about itself: values, each with a code of its kind."""
    reader.length()  # the module
    while (code := reader.length()) != opcodes.MODULE_EOF:
        if code in (opcodes.MODULE_SINT, opcodes.MODULE_UINT):
            reader.length()
        elif code == opcodes.MODULE_FLOAT:
            reader.plain(4)
        elif code == opcodes.MODULE_DOUBLE:
            reader.plain(8)
        elif code == opcodes.MODULE_STRING:
            reader.string()
        else:
            raise Corrupt("a module's value of an unknown kind")
