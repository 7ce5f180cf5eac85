"""Hashes in an RDB."""

from __future__ import annotations

import pytest

from storage import payload
from storage.errors import Corrupt
from storage.hashes import rdb_hash
from storage.hashes.hash import Hash
from storage.keyspace.key_events import KeyEvents
from storage.keyspace.keyspace import Keyspace
from storage.limits import ListpackLimits
from storage.listpack.listpack import Listpack
from storage.rdb.reader import RdbReader
from storage.rdb.writer import RdbWriter
from storage.snapshot.snapshot_reader import SnapshotReader
from storage.snapshot.snapshot_writer import SnapshotWriter
from tests.worth import rounds

LIMITS = ListpackLimits(4, 20)
PAIRS = [(b"a", b"1"), (b"12", b""), (b"c", b"x" * 20)]


def reader_of(*parts: int | bytes) -> RdbReader:
    """A reader of *parts*, where an int is a length and bytes are a string."""
    writer = RdbWriter()
    for part in parts:
        if isinstance(part, int):
            writer.length(part)
        else:
            writer.string(part)
    return RdbReader(writer.take())


def pack_of(*elements: bytes) -> bytes:
    pack = Listpack()
    for element in elements:
        pack.append(element)
    return pack.dump()


def hash_of(pairs: list[tuple[bytes, bytes]], limits: ListpackLimits = LIMITS) -> Hash:
    made = Hash()
    for field, text in pairs:
        made.set(field, text, limits)
    return made


def test_a_hash_is_read_back_in_both_forms() -> None:
    many = [(b"field %d" % n, b"v" * n) for n in range(rounds(2500))]
    for pairs in (PAIRS, many):
        made = hash_of(pairs)
        back = payload.restore(payload.dump(made))
        assert sorted(back) == sorted(pairs)
    assert payload.dump(hash_of(PAIRS))[0] == rdb_hash.LISTPACK
    assert payload.dump(hash_of(many))[0] == rdb_hash.TABLE


def test_a_snapshot_holds_hashes_of_all_sizes() -> None:
    databases = [Keyspace(0, KeyEvents())]
    for size in (1, 5, 999, 1000, 1001, 5000):
        pairs = [(b"field %d" % n, b"v" * (n % 900)) for n in range(size)]
        databases[0].add(b"%d" % size, hash_of(pairs))
    data = b"".join(SnapshotWriter(databases, {}))
    back = {record.key: record.value for record in SnapshotReader(data)}
    assert len(back) == 6
    for key, value in back.items():
        assert dict(value) == dict(databases[0].peek(key))


@pytest.mark.parametrize(
    ("entries", "value", "encoding"),
    [(2, 1, b"listpack"), (1, 64, b"hashtable")],
)
def test_a_listpack_is_kept_unless_it_has_too_many_fields(
    entries: int, value: int, encoding: bytes
) -> None:
    reader = reader_of(pack_of(b"a", b"long value", b"12", b"1"))
    back = rdb_hash.read(reader, rdb_hash.LISTPACK, ListpackLimits(entries, value))
    assert back.encoding == encoding
    assert sorted(back) == [(b"12", b"1"), (b"a", b"long value")]


@pytest.mark.parametrize(
    ("limits", "encoding"),
    [
        (ListpackLimits(2, 10), b"listpack"),
        (ListpackLimits(1, 10), b"hashtable"),
        (ListpackLimits(2, 9), b"hashtable"),
    ],
)
def test_the_pairs_of_a_table_become_a_listpack_if_they_fit(
    limits: ListpackLimits, encoding: bytes
) -> None:
    reader = reader_of(2, b"a", b"1", b"12", b"long value")
    back = rdb_hash.read(reader, rdb_hash.TABLE, limits)
    assert back.encoding == encoding
    assert sorted(back) == [(b"12", b"long value"), (b"a", b"1")]


def test_an_empty_hash_is_read_as_one() -> None:
    for code, parts in (
        (rdb_hash.LISTPACK, [pack_of()]),
        (rdb_hash.TABLE, [0]),
        (rdb_hash.ZIPMAP, [b"\x00\xff"]),
    ):
        assert len(rdb_hash.read(reader_of(*parts), code, LIMITS)) == 0


@pytest.mark.parametrize(
    ("code", "parts", "reason"),
    [
        (rdb_hash.LISTPACK, [pack_of(b"a")], "without a value"),
        (rdb_hash.LISTPACK, [pack_of(b"a", b"1", b"a", b"2")], "twice"),
        (rdb_hash.LISTPACK, [b"no listpack"], "listpack"),
        (rdb_hash.ZIPLIST, [b"no ziplist"], "ziplist"),
        (rdb_hash.ZIPMAP, [b"\x02\x01a\x00\x00\x01a\x00\x00\xff"], "twice"),
        (rdb_hash.TABLE, [2, b"a", b"1", b"a", b"2"], "twice"),
        (rdb_hash.TABLE, [9, b"a", b"1", *[b"a"] * 16], "twice"),
        (rdb_hash.TABLE, [2, b"a", b"1", b"b"], "more is announced|end too soon"),
        (rdb_hash.TABLE, [2**40, b"a", b"1"], "more is announced"),
    ],
)
def test_a_damaged_hash_is_refused(code: int, parts: list[int | bytes], reason: str) -> None:
    with pytest.raises(Corrupt, match=reason):
        rdb_hash.read(reader_of(*parts), code, LIMITS)
