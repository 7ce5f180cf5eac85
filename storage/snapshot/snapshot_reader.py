"""Reads a whole RDB file, key by key; storage/snapshot/snapshot_writer.py describes the format.

Source: rdb.c of Redis 7.0
"""

from __future__ import annotations

from typing import Any

from storage import types, value_type
from storage.errors import Corrupt, Truncated
from storage.rdb import opcodes
from storage.rdb.errors import BadSignature, BadSum, BadVersion, UnknownType
from storage.rdb.options import ReadOptions
from storage.rdb.raw import Buffer
from storage.rdb.reader import RdbReader
from storage.side_data import side_data
from storage.snapshot import part_sums
from storage.value_type import ValueType

CHECKSUM_STEP = 1 << 16  # bytes
UNKNOWN = -1
I64_MAX = 2**63 - 1
FIRST_OPCODE = opcodes.FIRST_OPCODE
EOF = opcodes.EOF


class Record:
    """A key with its value and all that the snapshot says about it."""

    __slots__ = (
        "db", "end", "expiry_ms", "field_expiry_ms", "freq", "idle_s", "key", "side", "value",
    )  # fmt: skip

    db: int
    key: bytes
    value: Any
    expiry_ms: int  # unix ms, or -1
    field_expiry_ms: int  # the same of the first field of the value
    idle_s: int  # seconds since it was used, or -1
    freq: int  # how often it is used (LFU), or -1
    side: bytes | None  # the record of its side data, if it has any
    end: int  # the offset of what follows the value


class SnapshotReader:
    """Iterates over the keys of a snapshot.

    *aux* holds the aux fields that were read so far, and *functions* the libraries of functions,
    which are not served here. *empty_keys* counts keys with empty values, which are skipped. At the
    end, *end* is the offset after the snapshot.

    Raises Corrupt, which says where; UnknownType; BadSignature; BadVersion.
    """

    def __init__(
        self,
        data: Buffer,
        options: ReadOptions = ReadOptions(),  # noqa: B008  never changes
    ) -> None:
        self.aux: dict[bytes, bytes] = {}
        self.functions: list[bytes] = []
        self.modules = 0  # records of modules, which are skipped
        self.empty_keys = 0
        self.version = 0
        self.checksummed = False  # whether there was a checksum to compare with; at the end
        self.parts = 0  # whose checksums were right
        self.end = UNKNOWN
        self._reader = RdbReader(data)
        self._options = options
        self._db = 0
        self._crc = 0
        self._summed = 0  # bytes that are in _crc
        self._right_to = 0  # the end of the last part whose checksum was right
        self._at = 0  # where the current record begins
        self._code = UNKNOWN  # the RDB type of the value that was read last ...
        self._type: ValueType = types.ROWS[0]  # ... and its type: most neighbours have the same
        self._forget_attributes()
        self._read_header()

    def close(self) -> None:
        """Release the bytes."""
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
        self._side: bytes | None = None
        self._beside: bytes | None = None  # what the value's RDB type has no place for

    def _read_header(self) -> None:
        if self._reader.left() < opcodes.MAGIC_SIZE:
            raise Truncated("too short to be an RDB")
        header = self._reader.plain(opcodes.MAGIC_SIZE)
        valkey = header.startswith(opcodes.VALKEY_MAGIC)
        magic = opcodes.VALKEY_MAGIC if valkey else opcodes.MAGIC
        digits = header[len(magic) :]
        if not header.startswith(magic) or not digits.isdigit():
            raise BadSignature("not an RDB: it does not begin with REDIS and a number")
        self.version = int(digits)
        if not opcodes.is_readable(self.version, valkey):
            raise BadVersion(header.decode(), self.version)

    def read(self) -> Record | None:
        """The next key, or None at the end."""
        try:
            return self._read_key()
        except BadSum:
            raise
        except Corrupt as error:
            raise type(error)(
                f"{error}, in what begins at offset {self._at} and was read up to {self.position}"
            ) from None

    def _read_key(self) -> Record | None:
        """Read records up to the next key, or to the end."""
        reader = self._reader
        while True:
            self._at = reader.position
            code = reader.byte()
            if code < FIRST_OPCODE:
                key = reader.string()
                value = self._read_value(code, key)
                if self._beside is not None:
                    self._type.add_beside(value, self._beside)
                record = self._record(key, value)
                if not self._type.is_empty(value):
                    return record
                self.empty_keys += 1
            elif code == EOF:
                self._finish()
                return None
            else:
                self._read_opcode(code)

    def _read_value(self, code: int, key: bytes) -> Any:
        try:
            if code != self._code:
                self._type = types.of_rdb_code(code, key)
                self._code = code
            return self._type.read(self._reader, code, self._options)
        except UnknownType:
            if code not in opcodes.MODULE_VALUES:
                raise
            raise UnknownType(key, opcodes.name_of_type(code) + module_of(self._reader)) from None
        except Corrupt as error:
            raise type(error)(f"{error}, in the value of the key {key!r}") from None

    def _record(self, key: bytes, value: Any) -> Record:
        """The record of a key that has just been read, with the attributes that preceded it."""
        record = Record.__new__(Record)
        record.db = self._db
        record.key = key
        record.value = value
        record.expiry_ms = self._expiry_ms
        record.field_expiry_ms = UNKNOWN
        if self._type.fields_expire:
            record.field_expiry_ms = self._type.first_field_expiry(value)
        record.idle_s = self._idle_s
        record.freq = self._freq
        record.side = self._side
        record.end = self._reader.position
        self._forget_attributes()
        if not self.parts and self._reader.position - self._summed >= CHECKSUM_STEP:
            self._sum_up()
        return record

    def _read_opcode(self, code: int) -> None:
        reader = self._reader
        if code == opcodes.EXPIRE_MS:
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
            name, text = reader.string(), reader.string()
            if name == side_data.AUX:
                self._side = text
            elif name == value_type.BESIDE:
                self._beside = text
            elif name == part_sums.AUX:
                self._compare(text)
            else:
                self.aux[name] = text
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

    def _compare(self, text: bytes) -> None:
        """Compare the checksums of the parts that end here; of those before _summed it is late."""
        reader = self._reader
        here = reader.position
        for end, expected in part_sums.sums_in(text):
            if not self._summed <= end <= self._at:
                continue
            reader.position = end
            self._sum_up()
            reader.position = here
            if self._options.checksum and self._crc != expected:
                raise BadSum(f"the bytes {self._right_to} to {end} are not what was written")
            self._right_to = end
            self.parts += 1

    def _sum_up(self) -> None:
        """Add what was read to the checksum while it is still in the processor's cache."""
        self._crc = self._reader.crc(self._summed, self._crc)
        self._summed = self._reader.position

    def _finish(self) -> None:
        """Compare the checksum, if there is one."""
        reader = self._reader
        if self.version >= opcodes.FIRST_CHECKED_VERSION:
            self._sum_up()
            checksum = reader.u64()
            self.checksummed = checksum != 0
            if self.checksummed and self._options.checksum and checksum != self._crc:
                raise Corrupt(
                    f"Wrong RDB checksum expected: ({self._crc:x}) but got ({checksum:x})"
                )
        self.end = reader.position


def module_of(reader: RdbReader) -> str:
    """Whose the value is that a module has written: its number comes first. "" if it is broken."""
    try:
        return f", of {opcodes.name_of_module(reader.length())}"
    except Corrupt:
        return ""


def pass_module_aux(reader: RdbReader) -> None:
    """Skip the auxiliary data of a module: values, each preceded by a code for its form."""
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
