"""The one module of the Spark side that knows the server's formats: it reads a dump.

    an RDB --mmap--> SnapshotReader --a key at a time--> Kept: plain facts of a key
                                                          | entries(): pages as XRANGE answers them
                                                          ' readable value: text, list, map

The bytes are mapped, not read. In memory is one key at a time, however large the file is: a stream
or another value as a whole, as the server holds it. A page has 1,000 entries or a megabyte, and at
least one entry. All lengths are compared with the bytes that are left before memory is taken, so
a broken file costs no more than a sound one of its size (LZF: 264 times the compressed bytes).

The server's packages have names that others use, too (``storage``, ``server``). They are imported
while what bears these names is out of the way, and leave ``sys.modules`` afterwards: a user's
module ``storage`` stays what it was, whichever is imported first.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from mmap import ACCESS_READ, mmap
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from penstock import launch
from penstock.bundle import Bundle
from pyspark_penstock.connect.stream_info import StreamState
from pyspark_penstock.entry_id import EntryId
from pyspark_penstock.errors import DumpError
from pyspark_penstock.names import key, readable

PAGE_ENTRIES = 1_000
PAGE_BYTES = 1 << 20
NO_EXPIRY = -1


@contextmanager
def ours() -> Iterator[None]:
    """Let imports find the server's packages, and nothing else that has their names.

    A checkout has these names for everybody, so what is imported there stays, if nobody else's was.
    """
    theirs = moved(lambda module: not is_ours(module))
    finder: Any = type("Finder", (launch.ApplicationFinder,), {"bundle": Bundle(launch.FOLDER)})
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        if theirs or launch.FOLDER == launch.INSIDE:
            moved(is_ours)
        sys.modules.update(theirs)


def moved(goes: Callable[[Any], bool]) -> dict[str, Any]:
    """Those modules of the names in question that go from ``sys.modules``."""
    found = [name for name in sys.modules if name.partition(".")[0] in launch.APPLICATION]
    return {name: sys.modules.pop(name) for name in found if goes(sys.modules[name])}


def is_ours(module: Any) -> bool:
    """Whether a module is the server's."""
    return str(getattr(module, "__file__", None)).startswith(launch.FOLDER + os.sep)


@cache
def reading() -> Any:
    """What is used of the server's packages. They are imported once in a process."""
    with ours():
        from protocol.encoder import Encoder  # noqa: PLC0415
        from server.commands.streams.stream_reply import write_within  # noqa: PLC0415
        from storage import glob, types  # noqa: PLC0415
        from storage.errors import StorageError  # noqa: PLC0415
        from storage.rdb.options import ReadOptions  # noqa: PLC0415
        from storage.snapshot.snapshot_reader import SnapshotReader  # noqa: PLC0415
        from storage.stream.stream_id import StreamId  # noqa: PLC0415
    return SimpleNamespace(
        Encoder=Encoder, glob=glob, ReadOptions=ReadOptions, SnapshotReader=SnapshotReader,
        StorageError=StorageError, StreamId=StreamId, types=types, write_within=write_within,
    )  # fmt: skip


def matches(pattern: str, name: bytes) -> bool:
    """Whether a name matches a glob, as KEYS has it."""
    found: bool = reading().glob.match(key(pattern), name)
    return found


class Kept:
    """A key of a dump, valid until the next one is read. It lies at the offsets *at* to *end*."""

    def __init__(self, record: Any, at: int) -> None:
        self.db: int = record.db
        self.key: bytes = record.key
        self.expiry_ms: int | None = None if record.expiry_ms == NO_EXPIRY else record.expiry_ms
        self.at, self.end = at, int(record.end)
        self._value = record.value
        self._row = reading().types.of(record.value)
        self.type: str = self._row.name.decode()

    def state(self) -> StreamState:
        """The state of a stream, as XINFO STREAM has it."""
        stream = self._value
        first, last = id_of(stream.first_entry_id()), id_of(stream.last_entry_id())
        return StreamState(
            length=len(stream), added=stream.entries_added, last_id=id_of(stream.last_id),
            first_entry=first if len(stream) else None, last_entry=last if len(stream) else None,
            groups=len(stream.groups), exists=True,
        )  # fmt: skip

    def group_position(self, group: bytes) -> EntryId | None:
        """The last id that was delivered to *group* of a stream; None if there is none."""
        found = self._value.groups.get(group)
        return None if found is None else id_of(found.last_id)

    def groups(self) -> Iterator[tuple[bytes, int, int, EntryId]]:
        """The groups of a stream: name, consumers, pending entries, last id delivered."""
        for name, group in self._value.sorted_groups():
            yield name, len(group.sorted_consumers()), len(group.pel), id_of(group.last_id)

    def node_ids(self) -> list[EntryId]:
        """Where the nodes of a stream begin: their entries have ids from there on."""
        return [
            EntryId(int.from_bytes(key[:8]), int.from_bytes(key[8:])) for key, _ in self._value.rax
        ]

    def pages(self, after: EntryId, upto: EntryId) -> Iterator[bytes]:
        """The entries of a stream in (after, upto], as replies to XRANGE."""
        parts = reading()
        start = EntryId.from_number(after.number + 1)
        entry = self._value.range(parts.StreamId(*start), parts.StreamId(*upto))
        while True:
            out = parts.Encoder()
            written, is_over = parts.write_within(out, entry, None, PAGE_ENTRIES, PAGE_BYTES, True)
            if written:
                yield out.take()
            if is_over and written < PAGE_ENTRIES:
                return
            if not is_over:  # the entry that had no room is where the walk stands: begin there
                entry = self._value.range(
                    parts.StreamId(entry.ms, entry.seq), parts.StreamId(*upto)
                )

    def value(self) -> Any:
        """A value that is no stream: bytes, a list, or a dict of a hash or a sorted set."""
        if self.type == "string":
            return next(iter(self._row.digest_parts(self._value)))
        if self.type in ("hash", "zset"):
            return dict(self._value)
        return list(self._value)


def id_of(entry_id: Any) -> EntryId:
    """An id of the server's as one of ours."""
    return EntryId(entry_id.ms, entry_id.seq)


class Dump:
    """An RDB at *path*: iterate over it, or check it. Raises DumpError, which names the file."""

    def __init__(self, path: str) -> None:
        self.path = path
        with self._told(), Path(path).open("rb") as file:
            if not Path(path).stat().st_size:
                raise DumpError(f"{readable(path)}: the file is empty")
            self._data = mmap(file.fileno(), 0, access=ACCESS_READ)

    def __enter__(self) -> Dump:
        return self

    def __exit__(self, *_: object) -> None:
        self._data.close()

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Errors of the file, or of its bytes, name the file."""
        try:
            yield
        except OSError as error:
            raise DumpError(f"{readable(self.path)}: {error.strerror}") from None
        except reading().StorageError as error:
            text = readable(str(error))
            raise DumpError(f"{readable(self.path)}: {text}") from None

    def keys(self, before: int | None = None) -> Iterator[Kept]:
        """The keys that begin before the offset *before*; None: all, then the checksum is right."""
        reader = None
        try:
            with self._told():
                reader = reading().SnapshotReader(
                    self._data, reading().ReadOptions(checksum=before is None)
                )
                while record := reader.read():
                    if before is not None and reader.key_at >= before:
                        return
                    yield Kept(record, reader.key_at)
        finally:
            if reader is not None:
                reader.close()

    def check(self) -> None:
        """Read everything, and keep nothing. Raises DumpError."""
        for _ in self.keys():
            pass
