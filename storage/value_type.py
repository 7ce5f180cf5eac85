"""What the server has to know about a type of values: the base of each row of storage/types.py."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeAlias

from storage import allocation
from storage.errors import Corrupt
from storage.listpack.listpack import Listpack
from storage.rdb import borrowed
from storage.rdb.options import ReadOptions
from storage.rdb.reader import RdbReader
from storage.rdb.writer import RdbWriter

Words: TypeAlias = Sequence[bytes]  # a command and its arguments
NO_EXPIRY = -1
BESIDE = b"penstock-beside-value"  # the name of the aux field that has what beside() gives
PACKED_UP_TO = 511  # bytes; see ValueType.packed


class ValueType:
    """A type of values. A subclass says what is different about its own.

        name         what TYPE answers, and SCAN .. TYPE asks for: b"list"
        number       Redis's number of the type (OBJ_LIST), which DEBUG DIGEST mixes in
        classes      the Python classes of its values
        rdb_code     the RDB type that its values are written as; if there are several, the one
                     of small values: rdb_code_of has that of each value
        rdb_codes    the RDB types that are read as values of this type
        rdb_versions  for those that no RDB of version 10 has: since which version there is one
        fields_expire  whether fields of a value may expire: then first_field_expiry says when
        packs        whether small values can be packed

    Where nothing else is said, a method is given a value of one of *classes*, and is O(1).
    """

    __slots__ = (
        "classes",
        "fields_expire",
        "name",
        "number",
        "packs",
        "rdb_code",
        "rdb_codes",
        "rdb_versions",
    )

    def __init__(
        self,
        name: bytes,
        number: int,
        classes: tuple[type, ...],
        rdb_code: int,
        rdb_codes: Iterable[int],
        fields_expire: bool = False,
        packs: bool = False,
        rdb_versions: Mapping[int, int] = MappingProxyType({}),
    ) -> None:
        self.name = name
        self.number = number
        self.classes = classes
        self.rdb_code = rdb_code
        self.rdb_codes = frozenset(rdb_codes)
        self.fields_expire = fields_expire
        self.packs = packs
        self.rdb_versions = rdb_versions

    # ------------------------------------------------------------------ commands on any key

    def encoding(self, value: Any) -> bytes:
        """What OBJECT ENCODING answers."""
        raise NotImplementedError

    def reference_count(self, value: Any) -> int:
        """What OBJECT REFCOUNT answers."""
        return 1

    def copy(self, value: Any) -> Any:
        """A value that is equal and shares nothing with *value* that can change. O(size)."""
        raise NotImplementedError

    def length(self, value: Any) -> int:
        """How many elements *value* has; 1 if it is not made of elements."""
        raise NotImplementedError

    def parts(self, value: Any) -> int:
        """How many pieces of memory *value* is made of, as Redis counts the work of freeing it."""
        return 1 if self.only_listpack(value) is not None else self.length(value)

    def memory(self, value: Any, samples: int) -> int:
        """How many bytes *value* takes. O(size), unless the type looks at *samples* parts of it.

        0 samples stand for all parts. A value that is made of few parts is looked at as a whole.
        """
        return measured(lambda: self.copy(value))

    def packed(self, value: Any) -> bytes | None:
        """The bytes that a small value is kept as while nobody uses it, at least 4; else None.

        *unpacked* makes a value of them again. The key table packs values of up to PACKED_UP_TO
        bytes, and so spares the objects that they are made of.
        """
        return None

    def unpacked(self, text: bytes) -> Any:
        """The value that *packed* has made *text* of. O(size)."""
        raise NotImplementedError

    def shrink(self, value: Any) -> None:
        """Give back the memory that *value* has in reserve: it has probably all its elements."""

    def is_empty(self, value: Any) -> bool:
        """Whether no key can hold *value*: when such a value is loaded, its key is dropped."""
        return False

    def first_field_expiry(self, value: Any) -> int:
        """When the first field of *value* expires, in unix ms; -1: never."""
        return NO_EXPIRY

    # ------------------------------------------------------------------ DEBUG and server.check

    def digest_parts(self, value: Any) -> Iterable[bytes]:
        """What DEBUG DIGEST mixes into the digest, in this order. O(size)."""
        raise NotImplementedError

    def digest_members(self, value: Any) -> Iterable[bytes]:
        """What DEBUG DIGEST adds to the digest then: members that are in no order. O(size)."""
        return ()

    def debug_facts(self, value: Any, compress_depth: int) -> str:
        """What DEBUG OBJECT says about this type alone: " name:value", any number of times.

        *compress_depth* is list-compress-depth: 0 if the nodes of lists are not to be compressed.
        """
        return ""

    def only_listpack(self, value: Any) -> Listpack | None:
        """The listpack that *value* consists of, which DEBUG LISTPACK shows; None if it is more."""
        return None

    def check_lines(self, value: Any, shown: Callable[[bytes], str]) -> Iterator[str]:
        """What server.check tells about one value; no line if its size says it all. O(size).

        *shown* makes a name printable.
        """
        return iter(())

    # ------------------------------------------------------------------ the append-only file

    def commands(self, key: bytes, value: Any) -> Iterator[Words]:
        """The commands that make *value* at *key*, for an AOF without an RDB in front. O(size)."""
        raise NotImplementedError

    # ------------------------------------------------------------------ the RDB

    def rdb_code_of(self, value: Any) -> int:
        """The RDB type that *value* is written as."""
        return self.rdb_code

    def rdb_code_in(self, value: Any, version: int) -> int:
        """The RDB type that *value* is written as in an RDB of *version*."""
        return self.rdb_code_of(value)

    def write_value(self, writer: RdbWriter, value: Any) -> Iterator[None]:
        """Write *value* in the form of its RDB type. O(size).

        At each step the caller may take what has been written.
        """
        raise NotImplementedError

    def beside(self, value: Any, version: int) -> bytes:
        """What of *value* the RDB type has no place for that an RDB of *version* has; often b"".

        It is written in a field of its own, of which Redis takes no notice: see BESIDE.
        """
        return b""

    def add_beside(self, value: Any, record: bytes) -> None:
        """Add what beside() has given to *value*, which was just read. Raises Corrupt."""
        raise Corrupt("a field beside a value that has none")

    def write_at_once(
        self,
        writer: RdbWriter,
        key: borrowed.Borrowed,
        value: borrowed.Borrowed,
    ) -> bool:
        """Write RDB type, key and value without taking references, if that is one short step.

        False if it is not: then nothing is written, and the value goes through write_value().
        Values that exist by the million should be written this way; see storage/rdb/borrowed.py.
        """
        return False

    def write_head(self, writer: RdbWriter, key: borrowed.Borrowed, code: int) -> None:
        """Write the RDB type *code* and the key."""
        writer.byte(code)
        writer.text(borrowed.octets(key), borrowed.size(key))

    def read(self, reader: RdbReader, code: int, options: ReadOptions) -> Any:
        """Read a value in the form of *code*, one of *rdb_codes*. Raises Corrupt. O(size)."""
        raise NotImplementedError


def measured(make: Callable[[], Any]) -> int:
    """How many bytes the data have that *make* makes."""
    before = allocation.used_bytes()
    made = make()
    size = allocation.used_bytes() - before
    del made
    return size
