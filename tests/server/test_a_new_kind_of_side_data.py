"""Side data that are known by their row alone: every place that keys go through handles them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from server.check.snapshot_check import check_snapshot
from server.parts.persistence.files import Files
from server.parts.persistence.log_commands import CommandPieces
from storage import digest, payload
from storage.errors import Corrupt
from storage.keyspace.key_events import KeyEvents
from storage.keyspace.keyspace import Keyspace
from storage.rdb.crc64 import crc64
from storage.side_data import kinds
from storage.side_data.side_data import SideData, side_data_in
from storage.side_data.side_kind import SideKind
from storage.snapshot.filler import Filler
from storage.snapshot.snapshot_reader import SnapshotReader
from storage.snapshot.snapshot_writer import SnapshotWriter
from storage.value_type import Words
from tests.server.conftest import SocketlessServer


class NoteKind(SideKind):
    """A note beside a key or a group: lines of text."""

    def copy(self, value: list[bytes]) -> list[bytes]:
        return list(value)

    def dump(self, value: list[bytes]) -> bytes:
        return b"\n".join(value)

    def load(self, data: bytes) -> list[bytes]:
        if not data:
            raise Corrupt("a note without lines")
        return data.split(b"\n")

    def commands(self, key: bytes, group: bytes | None, value: list[bytes]) -> Iterator[Words]:
        yield [b"NOTE", key, group or b"", *value]


NOTE = NoteKind(b"note")


@pytest.fixture
def server(make_server, declare):
    """A server with the command NOTE key group line ..., which sets a note; "" is the key's own."""
    kinds.register(NOTE)

    def note(call):
        _, key, group, *lines = call.argv
        side = call.db.side.get(key) or SideData()
        side.set(NOTE, lines, group or None)
        call.db.put_side(key, side)
        call.db.changed(key, None)
        return len(side)

    declare("note", note)
    server = make_server()
    server.send_line("SET k v")
    server.send_line("XGROUP CREATE s g $ MKSTREAM")
    server.send("NOTE", "k", "", "one", "two")
    server.send("NOTE", "s", "", "of the stream")
    server.send("NOTE", "s", "g", "of the group")
    server.logged()
    yield server
    del kinds.BY_NAME[NOTE.name]


def notes(server: SocketlessServer, key: bytes, group: bytes | None = None, db: int = 0):
    side = server.state.databases[db].side.get(key)
    return None if side is None else side.get(NOTE, group)


def saved(server: SocketlessServer) -> bytes:
    return b"".join(SnapshotWriter(server.state.databases, {}))


def loaded(data: bytes) -> list[Keyspace]:
    events = KeyEvents()
    databases = [Keyspace(index, events) for index in range(16)]
    filler, reader = Filler(databases, 0), SnapshotReader(data)
    while filler.fill(reader):
        pass
    return databases


@pytest.mark.parametrize(
    "line", ["DEL k", "UNLINK k", "SET k w", "GETSET k w", "GETDEL k", "PEXPIREAT k 1", "FLUSHALL"]
)
def test_it_goes_with_the_value_that_it_was_beside(server, line):
    server.send_line(line)
    assert notes(server, b"k") is None


def test_it_stays_while_the_value_changes(server):
    for line in ("APPEND k x", "EXPIRE k 100", "PERSIST k", "XADD s * f v"):
        server.send_line(line)
    assert notes(server, b"k") == [b"one", b"two"]
    assert notes(server, b"s", b"g") == [b"of the group"]


def test_it_comes_along_when_a_key_is_renamed_or_moved(server):
    server.send_line("SET old x")
    server.send("NOTE", "old", "", "replaced")
    server.send_line("RENAME k old")
    assert (notes(server, b"k"), notes(server, b"old")) == (None, [b"one", b"two"])
    server.send_line("MOVE old 3")
    assert (notes(server, b"old"), notes(server, b"old", db=3)) == (None, [b"one", b"two"])
    server.send_line("SWAPDB 3 0")
    assert notes(server, b"old") == [b"one", b"two"]
    assert notes(server, b"s", b"g", db=3) == [b"of the group"]


def test_a_copy_has_a_copy_of_it(server):
    server.send_line("SET k2 x")
    server.send("NOTE", "k2", "", "replaced")
    server.send_line("COPY k k2 REPLACE")
    server.state.databases[0].side[b"k"].get(NOTE).append(b"three")
    assert notes(server, b"k2") == [b"one", b"two"]
    server.send_line("SET plain x")
    server.send_line("COPY plain k2 REPLACE")
    assert notes(server, b"k2") is None


def test_that_of_a_group_goes_with_the_group(server):
    server.send_line("XGROUP DESTROY s g")
    assert notes(server, b"s", b"g") is None
    assert notes(server, b"s") == [b"of the stream"]


def test_a_key_has_none_when_the_last_group_with_any_goes(server):
    server.send_line("XGROUP CREATE t g $ MKSTREAM")
    server.send("NOTE", "t", "g", "of the group")
    server.send_line("XGROUP DESTROY t g")
    assert b"t" not in server.state.databases[0].side


def test_dump_and_restore_carry_it(server):
    dumped = server.send_line("DUMP s")
    assert server.send("RESTORE", "s2", 0, dumped) == b"OK"
    assert notes(server, b"s2") == [b"of the stream"]
    assert notes(server, b"s2", b"g") == [b"of the group"]
    server.send("RESTORE", "k", 0, dumped, "REPLACE")
    assert notes(server, b"k") == [b"of the stream"]
    server.send("SET", "bare", "x")
    server.send("RESTORE", "k", 0, server.send("DUMP", "bare"), "REPLACE")
    assert notes(server, b"k") is None


def test_a_payload_with_other_bytes_after_the_value_is_refused(server):
    body = server.send_line("DUMP k")[: -payload.FOOTER]
    for more in (b"x", b"\xfa\x01x\x01y", body[-3:]):
        broken = body + more + (11).to_bytes(2, "little")
        broken += crc64(broken).to_bytes(8, "little")
        assert server.send("RESTORE", "new", 0, broken) == "-ERR Bad data format"


def test_a_snapshot_has_it_and_other_readers_skip_it(server):
    data = saved(server)
    databases = loaded(data)
    assert databases[0].side[b"k"].get(NOTE) == [b"one", b"two"]
    assert databases[0].side[b"s"].get(NOTE, b"g") == [b"of the group"]
    assert digest.of_data(databases) == digest.of_data(server.state.databases)
    assert b"\xfa\x12penstock-side-data" in data  # an aux field, which Redis skips


def test_a_kind_of_a_later_version_is_kept_as_it_is(server):
    data = saved(server)
    del kinds.BY_NAME[NOTE.name]
    try:
        again = b"".join(SnapshotWriter(loaded(data), {}))
    finally:
        kinds.register(NOTE)
    assert again == data


def test_a_rewritten_log_has_the_commands_and_they_replay(server):
    text = b"".join(CommandPieces(server.state.databases))
    assert b"$4\r\nNOTE\r\n$1\r\ns\r\n$1\r\ng\r\n$12\r\nof the group\r\n" in text
    server.send_line("XGROUP DESTROY s g")
    server.send_line("XGROUP CREATE s g $")
    replay = server.dispatcher.replaying.begin()
    for words in server.state.databases[0].side[b"k"].commands(b"s"):
        replay(list(words))
    assert notes(server, b"s") == [b"one", b"two"]


def test_digests_and_memory_count_it(server):
    db = server.state.databases[0]
    before, usage = digest.of_key(db, b"k"), server.send_line("MEMORY USAGE k")
    server.send("NOTE", "k", "", "another")
    assert digest.of_key(db, b"k") != before
    server.send_line("SET k v")
    assert server.send_line("MEMORY USAGE k") < usage


def test_the_check_counts_it_and_finds_what_is_broken(server, tmp_path: Path):
    path = tmp_path / "dump.rdb"
    path.write_bytes(saved(server))
    found, _ = check_snapshot(path, Files())
    assert (found.problem, found.facts[-1]) == ("", "2 keys have side data")
    server.state.databases[0].side[b"k"].set(NOTE, [])
    path.write_bytes(saved(server))
    found, _ = check_snapshot(path, Files())
    assert "a note without lines" in found.problem


@pytest.mark.parametrize(
    ("record", "why"),
    [
        (b"\x02\x00", "a form of a later version"),
        (b"\x01\x05", "more is announced"),
        (b"\x01\x01\x04note\x00\x01x?", "bytes after the side data"),
        (b"\x01\x02\x04none\x00\x01x\x04none\x00\x01y", "the same side data twice"),
        (b"\x01\x01\x04none\x01\x01g\xc3\x01\x01", "."),
    ],
)
def test_a_broken_record_is_refused(record: bytes, why: str) -> None:
    with pytest.raises(Corrupt, match=why):
        side_data_in(record)


def test_two_kinds_cannot_have_one_name() -> None:
    row = NoteKind(b"once")
    kinds.register(row)
    try:
        with pytest.raises(ValueError, match="two kinds of side data called b'once'"):
            kinds.register(NoteKind(b"once"))
    finally:
        del kinds.BY_NAME[b"once"]
