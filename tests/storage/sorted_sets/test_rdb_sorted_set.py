"""Sorted sets in an RDB."""

from __future__ import annotations

import struct

import pytest

from storage import payload
from storage.errors import Corrupt
from storage.keyspace.key_events import KeyEvents
from storage.keyspace.keyspace import Keyspace
from storage.limits import ListpackLimits
from storage.listpack.listpack import Listpack
from storage.rdb.options import ReadOptions
from storage.rdb.reader import RdbReader
from storage.rdb.writer import RdbWriter
from storage.snapshot.snapshot_reader import SnapshotReader
from storage.snapshot.snapshot_writer import SnapshotWriter
from storage.sorted_sets import rdb_sorted_set
from storage.sorted_sets.sorted_set import SortedSet

LIMITS = ListpackLimits(4, 20)
INF = float("inf")
PAIRS = [(b"a", -INF), (b"", 0.0), (b"12", 0.1), (b"c" * 20, 7.0)]
MANY = [(b"member %d" % n, n / 7) for n in range(2500)]


def reader_of(*parts: int | float | bytes) -> RdbReader:
    """A reader of *parts*: an int is a length, a float a double, bytes are a string."""
    writer = RdbWriter()
    for part in parts:
        if isinstance(part, int):
            writer.length(part)
        elif isinstance(part, float):
            writer.plain(struct.pack("<d", part))
        else:
            writer.string(part)
    return RdbReader(writer.take())


def texts(*parts: bytes) -> RdbReader:
    """A reader of members with texts for scores; the latter are given with their first byte."""
    writer = RdbWriter()
    writer.length(len(parts) // 2)
    for member, score in zip(parts[::2], parts[1::2], strict=True):
        writer.string(member)
        writer.plain(score)
    return RdbReader(writer.take())


def pack_of(*elements: bytes) -> bytes:
    pack = Listpack()
    for element in elements:
        pack.append(element)
    return pack.dump()


def set_of(pairs: list[tuple[bytes, float]]) -> SortedSet:
    made = SortedSet()
    for member, score in pairs:
        made.put(member, score, LIMITS)
    return made


@pytest.mark.parametrize("pairs", [PAIRS, MANY, MANY[:900]])
def test_a_sorted_set_is_read_back_in_both_forms(pairs: list[tuple[bytes, float]]) -> None:
    made = set_of(pairs)
    dumped = payload.dump(made)
    code = rdb_sorted_set.TREE if len(pairs) > 4 else rdb_sorted_set.LISTPACK
    assert dumped[0] == code
    assert list(payload.restore(dumped)) == pairs
    assert payload.restore(dumped, ReadOptions(sorted_set_limits=LIMITS)).encoding == made.encoding


def test_a_snapshot_holds_sorted_sets_of_all_sizes() -> None:
    db = Keyspace(0, KeyEvents())
    for number, pairs in enumerate([PAIRS, MANY[:900], MANY]):
        db.add(b"%d" % number, set_of(pairs))
    data = b"".join(SnapshotWriter([db], {}))
    found = {record.key: list(record.value) for record in SnapshotReader(data)}
    assert found == {b"0": PAIRS, b"1": MANY[:900], b"2": MANY}


def test_every_rdb_type_of_a_sorted_set_is_read() -> None:
    tree = rdb_sorted_set.read(reader_of(2, b"b", INF, b"a", 1.5), rdb_sorted_set.TREE, LIMITS)
    assert list(tree) == [(b"a", 1.5), (b"b", INF)]
    old = texts(b"a", b"\x031.5", b"b", b"\xfe", b"c", b"\xff")
    read = rdb_sorted_set.read(old, rdb_sorted_set.TEXTS, LIMITS)
    assert list(read) == [(b"c", -INF), (b"a", 1.5), (b"b", INF)]
    packed = reader_of(pack_of(b"a", b"1", b"b", b"0.10000000000000001e1"))
    assert list(rdb_sorted_set.read(packed, rdb_sorted_set.LISTPACK, LIMITS)) == [
        (b"a", 1.0),
        (b"b", 1.0),
    ]


def test_what_is_read_follows_the_limits_of_now() -> None:
    packed = reader_of(pack_of(*(word for n in range(5) for word in (b"m%d" % n, b"%d" % n))))
    assert rdb_sorted_set.read(packed, rdb_sorted_set.LISTPACK, LIMITS).encoding == b"skiplist"
    few = reader_of(2, b"b", 2.0, b"a", 1.0)
    assert rdb_sorted_set.read(few, rdb_sorted_set.TREE, LIMITS).encoding == b"listpack"
    long = reader_of(2, b"b", 2.0, b"a" * 21, 1.0)
    assert rdb_sorted_set.read(long, rdb_sorted_set.TREE, LIMITS).encoding == b"skiplist"


def test_an_empty_sorted_set_is_read_as_empty() -> None:
    assert len(rdb_sorted_set.read(reader_of(0), rdb_sorted_set.TREE, LIMITS)) == 0
    assert len(rdb_sorted_set.read(reader_of(pack_of()), rdb_sorted_set.LISTPACK, LIMITS)) == 0
    with pytest.raises(Corrupt, match="without elements"):
        payload.restore(payload.dump(SortedSet()))


@pytest.mark.parametrize(
    ("code", "reader", "reason"),
    [
        (rdb_sorted_set.TREE, reader_of(2, b"a", 1.0, b"a", 2.0), "twice"),
        (rdb_sorted_set.TREE, reader_of(1, b"a", float("nan")), "no number"),
        (rdb_sorted_set.TREE, reader_of(2, b"aaaaaaaaaa", 1.0), "too soon|more is announced"),
        (rdb_sorted_set.TREE, reader_of(2**40, b"a", 1.0), "more is announced"),
        (rdb_sorted_set.TEXTS, texts(b"a", b"\xfd"), "no number"),
        (rdb_sorted_set.TEXTS, texts(b"a", b"\x03nan"), "no number"),
        (rdb_sorted_set.TEXTS, texts(b"a", b"\x031_0"), "no number"),
        (rdb_sorted_set.TEXTS, texts(b"a", b"\x02 1"), "no number"),
        (rdb_sorted_set.TEXTS, texts(b"a", b"\x00"), "no number"),
        (rdb_sorted_set.TEXTS, texts(b"a", b"\x09" + b"1"), "too soon"),
        (rdb_sorted_set.LISTPACK, reader_of(b"no listpack"), "listpack"),
        (rdb_sorted_set.LISTPACK, reader_of(pack_of(b"a", b"1", b"b")), "without a score"),
        (rdb_sorted_set.LISTPACK, reader_of(pack_of(b"a", b"1", b"a", b"2")), "twice"),
        (rdb_sorted_set.LISTPACK, reader_of(pack_of(b"a", b"1", b"a", b"1")), "twice"),
        (rdb_sorted_set.LISTPACK, reader_of(pack_of(b"a", b"2", b"b", b"1")), "disorder"),
        (rdb_sorted_set.LISTPACK, reader_of(pack_of(b"b", b"1", b"a", b"1")), "disorder"),
        (rdb_sorted_set.LISTPACK, reader_of(pack_of(b"a", b"x")), "no number"),
        (rdb_sorted_set.LISTPACK, reader_of(pack_of(b"a", b"nan")), "no number"),
    ],
)
def test_an_invalid_sorted_set_is_refused(code: int, reader: RdbReader, reason: str) -> None:
    with pytest.raises(Corrupt, match=reason):
        rdb_sorted_set.read(reader, code, LIMITS)


def test_the_sign_of_zero_is_kept_in_a_tree_that_few_members_make_up() -> None:
    """Once, the members before the first long one were put into a listpack, which has no -0."""
    long = b"c" * 21
    read = rdb_sorted_set.read(reader_of(2, b"a", -0.0, long, 1.0), rdb_sorted_set.TREE, LIMITS)
    assert [str(score) for _, score in read] == ["-0.0", "1.0"]
