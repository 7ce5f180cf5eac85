"""A value type that is known by its row alone: every place that depends on types handles it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from server.check.findings import Contents
from server.parts.persistence.log_commands import CommandPieces
from server.table.command import Command, new_block
from storage import digest, digest_sums, types
from storage.errors import Corrupt
from storage.keyspace.key_lookups import ANY
from storage.payload import dump, restore
from storage.rdb.options import ReadOptions
from storage.rdb.reader import RdbReader
from storage.rdb.writer import RdbWriter
from storage.snapshot.snapshot_reader import SnapshotReader
from storage.snapshot.snapshot_writer import SnapshotWriter
from storage.value_type import ValueType, Words
from tests.server.conftest import NOTHING, SocketlessServer

RDB_BAG = 200


class Bag:
    """A value of the new type: a few texts in alphabetical order."""

    def __init__(self, texts: Iterable[bytes] = ()) -> None:
        self.texts = sorted(texts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Bag) and other.texts == self.texts

    __hash__ = None  # type: ignore[assignment]


class BagType(ValueType):
    """The row of the new type."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(b"bag", 42, (Bag,), RDB_BAG, [RDB_BAG])

    def encoding(self, value: Bag) -> bytes:
        return b"sorted" if value.texts else b"nothing"

    def copy(self, value: Bag) -> Bag:
        return Bag(value.texts)

    def length(self, value: Bag) -> int:
        return len(value.texts)

    def is_empty(self, value: Bag) -> bool:
        return not value.texts

    def digest_parts(self, value: Bag) -> Iterable[bytes]:
        return value.texts

    def debug_facts(self, value: Bag, compress_depth: int) -> str:
        return f" texts:{len(value.texts)}"

    def check_lines(self, value: Bag, shown: Callable[[bytes], str]) -> Iterator[str]:
        yield f"the first is {shown(value.texts[0])}"

    def commands(self, key: bytes, value: Bag) -> Iterator[Words]:
        yield [b"BAGADD", key, *value.texts]

    def write_value(self, writer: RdbWriter, value: Bag) -> Iterator[None]:
        writer.length(len(value.texts))
        for text in value.texts:
            writer.string(text)
            yield

    def read(self, reader: RdbReader, code: int, options: ReadOptions) -> Any:
        assert (code, options.list_fill) == (RDB_BAG, -2)
        return Bag([reader.string() for _ in range(reader.count(1))])


@pytest.fixture
def row() -> Iterator[BagType]:
    """The new type, registered for one test."""
    row = BagType()
    types.register(row)
    yield row
    del types.BY_CLASS[Bag], types.BY_RDB_CODE[RDB_BAG]
    types.BY_NUMBER[row.number] = None


@pytest.fixture
def filled(row: BagType, server: SocketlessServer) -> SocketlessServer:
    """A server that holds a string, a bag and a list."""
    server.send_line("SET a text")
    server.state.databases[0].add(b"k", Bag([b"x", b"\xffy", b"z"]))
    server.send_line("RPUSH l element")
    server.logged()
    return server


def test_type_scan_and_object_know_the_new_type(filled: SocketlessServer) -> None:
    assert filled.send_line("TYPE k") == b"bag"
    assert filled.send_line("SCAN 0 TYPE bag") == [b"0", [b"k"]]
    assert filled.send_line("SCAN 0 TYPE list") == [b"0", [b"l"]]
    assert filled.send_line("OBJECT ENCODING k") == b"sorted"
    assert filled.send_line("OBJECT REFCOUNT k") == 1


def test_commands_of_other_types_answer_wrongtype(filled: SocketlessServer) -> None:
    for line in ("GET k", "LPUSH k x", "XLEN k"):
        assert filled.send_line(line).startswith("-WRONGTYPE")


def test_copy_shares_nothing_with_the_original(filled: SocketlessServer) -> None:
    assert filled.send_line("COPY k k2") == 1
    db = filled.state.databases[0]
    db.peek(b"k2").texts.append(b"more")
    assert db.find(b"k", ANY) == Bag([b"x", b"\xffy", b"z"])


def test_dump_and_restore_work_for_the_new_type(filled: SocketlessServer) -> None:
    payload = filled.send_line("DUMP k")
    assert payload[0] == RDB_BAG
    assert filled.send("RESTORE", "k2", 0, payload) == b"OK"
    db = filled.state.databases[0]
    assert db.find(b"k2", ANY) == db.find(b"k", ANY)
    assert filled.send_line("DUMP k2") == payload


def test_a_payload_with_an_empty_value_is_refused(row: BagType) -> None:
    with pytest.raises(Corrupt, match="a bag without elements"):
        restore(dump(Bag()))


def test_a_snapshot_has_the_new_type_and_loading_drops_an_empty_value(
    filled: SocketlessServer,
) -> None:
    filled.state.databases[0].add(b"empty", Bag())
    reader = SnapshotReader(b"".join(SnapshotWriter(filled.state.databases, {})))
    loaded = {record.key: record.value for record in reader}
    assert sorted(loaded) == [b"a", b"k", b"l"]
    assert loaded[b"k"] == Bag([b"x", b"\xffy", b"z"])
    assert reader.empty_keys == 1


def test_a_rewritten_log_has_the_commands_of_the_new_type(filled: SocketlessServer) -> None:
    words = b"*5\r\n$6\r\nBAGADD\r\n$1\r\nk\r\n$1\r\nx\r\n$1\r\nz\r\n$2\r\n\xffy\r\n"
    assert words in b"".join(CommandPieces(filled.state.databases))


def test_debug_shows_the_digest_and_the_facts_of_the_new_type(
    filled: SocketlessServer, make_server: Callable[..., SocketlessServer]
) -> None:
    databases = filled.state.databases
    before = digest.of_data(databases)
    assert digest.of_key(databases[0], b"k") != digest_sums.NOTHING
    databases[0].peek(b"k").texts[0] = b"w"
    assert digest.of_data(databases) != before
    tester = make_server(enable_debug_command="yes")
    tester.state.databases[0].add(b"k", Bag([b"x"]))
    line = tester.send_line("DEBUG OBJECT k")
    assert b" encoding:sorted " in line
    assert line.endswith(b" texts:1")
    assert tester.send_line("DEBUG LISTPACK k") == "-ERR Not a listpack encoded object."


def test_the_check_of_a_file_counts_and_describes_the_new_type(filled: SocketlessServer) -> None:
    contents = Contents()
    for record in SnapshotReader(b"".join(SnapshotWriter(filled.state.databases, {}))):
        contents.count_key(record.db, record.key, record.value, False, 10)
    assert (contents.types["bag"].keys, contents.types["bag"].elements) == (1, 3)
    assert [(d.kind, d.key, d.lines) for d in contents.described] == [
        ("bag", b"k", ("the first is x",))
    ]


def test_a_client_blocked_on_the_new_type_is_served(
    row: BagType, server: SocketlessServer, declare: Callable[..., Command]
) -> None:
    def pop_bag(call: Any) -> Any:
        bag = call.db.find(call.argv[1], Bag)
        if bag is None:
            return new_block([call.argv[1]], Bag, 0, None)
        call.db.remove(call.argv[1])
        return bag.texts

    declare("BAGPOP", pop_bag)
    declare("BAGMAKE", lambda call: call.db.add(call.argv[1], Bag(call.argv[2:])))
    waiter = server.client()
    assert waiter.send_line("BAGPOP k") == NOTHING
    server.send_line("SET k text")
    assert waiter.reply() == NOTHING
    server.send_line("DEL k")
    server.send_line("BAGMAKE k y x")
    assert waiter.reply() == [b"x", b"y"]
