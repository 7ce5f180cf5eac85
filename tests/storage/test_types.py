"""storage/types, the registry of value types: what it finds, and what it refuses."""

from __future__ import annotations

import pytest

from storage import types
from storage.hashes.hash import Hash
from storage.limits import ListpackLimits
from storage.lists.quicklist import QuickList
from storage.rdb.errors import UnknownType
from storage.rdb.options import ReadOptions
from storage.sets.member_set import MemberSet
from storage.sorted_sets.sorted_set import SortedSet
from storage.stream.stream import Stream
from storage.stream.stream_id import StreamId
from storage.value_type import ValueType


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (b"text", b"string"),
        (bytearray(b"text"), b"string"),
        (12, b"string"),
        (QuickList(), b"list"),
        (Hash(), b"hash"),
        (Stream(), b"stream"),
        (MemberSet(), b"set"),
        (SortedSet(), b"zset"),
    ],
)
def test_each_class_of_values_has_its_type(value: object, name: bytes) -> None:
    assert types.of(value).name == types.of_class(type(value)).name == name


@pytest.mark.parametrize("value", [1.5, "text", None, {}, [], True])
def test_a_value_of_an_unregistered_class_is_refused(value: object) -> None:
    with pytest.raises(types.UnregisteredClass, match=type(value).__name__):
        types.of(value)


def test_an_unsupported_rdb_type_is_named_with_its_key() -> None:
    with pytest.raises(UnknownType, match=r"b'k' .*: array, RDB type 28"):
        types.of_rdb_code(28, b"k")


def test_every_type_reads_the_rdb_type_that_it_writes() -> None:
    for row in types.ROWS:
        assert row.rdb_code in row.rdb_codes
        assert all(types.of_rdb_code(code, None) is row for code in row.rdb_codes)


@pytest.mark.parametrize(
    ("classes", "rdb_code"), [((bytes,), 200), ((dict,), 0), ((bytes, dict), 200)]
)
def test_a_second_row_for_a_class_or_an_rdb_type_is_refused(
    classes: tuple[type], rdb_code: int
) -> None:
    row = ValueType(b"toy", 9, classes, rdb_code, [rdb_code])
    with pytest.raises(ValueError, match="two types"):
        types.register(row)
    with pytest.raises(types.UnregisteredClass):
        types.of({})


@pytest.mark.parametrize("rdb_code", [-1, 0xF3, 0xFF])
def test_an_opcode_is_refused_as_an_rdb_type(rdb_code: int) -> None:
    with pytest.raises(ValueError, match="out of range"):
        types.register(ValueType(b"toy", 9, (dict,), rdb_code, [rdb_code]))


def test_methods_that_a_type_does_not_define_raise() -> None:
    """A method has no default where a default would be wrong for some type."""
    row = ValueType(b"toy", 9, (dict,), 200, [200])
    for promise in (row.encoding, row.copy, row.length, row.digest_parts):
        with pytest.raises(NotImplementedError):
            promise({})
    with pytest.raises(NotImplementedError):
        row.commands(b"k", {})
    with pytest.raises(NotImplementedError):
        row.read(None, 200, ReadOptions())  # type: ignore[arg-type]


# ---------------------------------------------------------------------- memory


def long_list() -> QuickList:
    made = QuickList()
    for i in range(20_000):
        made.push_right(b"x" * (i % 90))
    return made


def large_sorted_set() -> SortedSet:
    made = SortedSet()
    for i in range(10_000):
        made.put(b"member" * (1 + i % 7) + b"%d" % i, i / 3, ListpackLimits(128, 64))
    return made


def busy_stream() -> Stream:
    made = Stream()
    for i in range(20_000):
        made.append(StreamId(i + 1, 0), [b"field", b"value" * (i % 10)])
    made.create_group(b"group", StreamId(0, 0))
    group = made.groups[b"group"]
    consumer = group.create_consumer(b"consumer", 1)
    for i in range(5_000):
        group.deliver(StreamId(i + 1, 0), consumer, 1)
    return made


def stream_of_many_consumers() -> Stream:
    made = Stream()
    for i in range(100):
        made.append(StreamId(i + 1, 0), [b"field", b"value" * 20])
    for name in (b"one", b"two"):
        made.create_group(name, StreamId(0, 0))
        for i in range(3_000):
            made.groups[name].create_consumer(b"consumer-%d" % i, 1)
    return made


@pytest.mark.parametrize(
    "make", [long_list, large_sorted_set, busy_stream, stream_of_many_consumers]
)
def test_the_memory_of_a_large_value_is_judged_by_a_part_of_it(make) -> None:
    value = make()
    row = types.of(value)
    whole = row.memory(value, 0)
    judged = row.memory(value, 5)
    assert judged != whole  # else all of it was copied, and all clients had waited
    assert judged == pytest.approx(whole, rel=0.1)
