"""Sets in an RDB."""

from __future__ import annotations

import pytest

from storage.errors import Corrupt
from storage.limits import SetLimits
from storage.listpack.listpack import Listpack
from storage.payload import dump, restore
from storage.rdb.options import ReadOptions
from storage.rdb.reader import RdbReader
from storage.rdb.writer import RdbWriter
from storage.sets import rdb_set
from storage.sets.member_set import MemberSet

LIMITS = SetLimits()
NUMBERS = [-(2**63), -(2**31), -(2**23), -(2**15), -4097, -4096, -1, 0, 127, 128, 4095, 2**40]
CASES = {
    "intset": [b"%d" % number for number in NUMBERS],
    "listpack": [b"", b"a", b"\x00\xff", b"x" * 63, b"y" * 64, *(b"%d" % n for n in NUMBERS)],
    "hashtable": [b"", b"1", b"a" * 65, b"b" * 5000, *(b"m%d" % n for n in range(1000))],
}


def set_of(*members: bytes, limits: SetLimits = LIMITS) -> MemberSet:
    made = MemberSet()
    for member in members:
        made.add(member, limits)
    return made


def written(value: MemberSet) -> bytes:
    writer = RdbWriter()
    for _ in rdb_set.write_set(writer, value):
        pass
    return writer.take()


def reader_of(*parts: int | bytes) -> RdbReader:
    """A reader of *parts*, where an int is a length and bytes are a string."""
    writer = RdbWriter()
    for part in parts:
        if isinstance(part, int):
            writer.length(part)
        else:
            writer.string(part)
    return RdbReader(writer.take())


def listpack_of(*elements: bytes) -> bytes:
    pack = Listpack()
    for element in elements:
        pack.append(element)
    return pack.dump()


@pytest.mark.parametrize("encoding", CASES)
def test_a_set_is_read_back(encoding: str) -> None:
    made = set_of(*CASES[encoding])
    assert made.encoding == encoding.encode()
    assert rdb_set.code_of(made) == (11 if encoding == "intset" else 2)
    back = rdb_set.read(RdbReader(written(made)), rdb_set.code_of(made), LIMITS)
    assert set(back) == set(CASES[encoding])
    assert back.encoding == made.encoding


@pytest.mark.parametrize("size", [4000, 5000, 100_000])
def test_a_long_member_of_a_listpack_is_written(size: int) -> None:
    made = set_of(b"a", b"x" * size, b"b", limits=SetLimits(512, 128, 1 << 20))
    assert made.encoding == b"listpack"
    assert set(restore(dump(made))) == {b"a", b"x" * size, b"b"}


def test_every_rdb_type_of_a_set_is_read() -> None:
    plain = rdb_set.read(reader_of(2, b"a", b"12"), rdb_set.PLAIN, LIMITS)
    assert (set(plain), plain.encoding) == ({b"a", b"12"}, b"listpack")
    numbers = bytes.fromhex("02000000 02000000 0100 0200")
    of_numbers = rdb_set.read(reader_of(numbers), rdb_set.INTSET, LIMITS)
    assert (list(of_numbers), of_numbers.encoding) == ([b"1", b"2"], b"intset")
    packed = rdb_set.read(reader_of(listpack_of(b"a", b"1")), rdb_set.LISTPACK, LIMITS)
    assert (set(packed), packed.encoding) == ({b"a", b"1"}, b"listpack")


def test_a_set_of_integers_becomes_an_intset_again() -> None:
    made = rdb_set.read(reader_of(2, b"7", b"-12"), rdb_set.PLAIN, LIMITS)
    assert (list(made), made.encoding) == ([b"-12", b"7"], b"intset")


@pytest.mark.parametrize("encoding", CASES)
def test_what_is_read_follows_the_limits_of_now(encoding: str) -> None:
    strict = ReadOptions(set_limits=SetLimits(2, 2, 2))
    back = restore(dump(set_of(*CASES[encoding])), strict)
    assert back.encoding == b"hashtable"
    assert set(back) == set(CASES[encoding])


def test_an_empty_set_is_read_as_empty() -> None:
    assert len(rdb_set.read(reader_of(0), rdb_set.PLAIN, LIMITS)) == 0
    assert len(rdb_set.read(reader_of(bytes([2, *bytes(7)])), rdb_set.INTSET, LIMITS)) == 0
    assert len(rdb_set.read(reader_of(listpack_of()), rdb_set.LISTPACK, LIMITS)) == 0
    with pytest.raises(Corrupt, match="a set without elements"):
        restore(dump(MemberSet()))


@pytest.mark.parametrize(
    ("code", "parts", "reason"),
    [
        (rdb_set.PLAIN, (2, b"a", b"a"), "twice"),
        (rdb_set.PLAIN, (2, b"1", b"1"), "twice"),
        (rdb_set.PLAIN, (2, b"a"), "end too soon|more is announced"),
        (rdb_set.PLAIN, (2**40, b"a"), "more is announced"),
        (rdb_set.INTSET, (b"no intset",), "intset"),
        (rdb_set.LISTPACK, (b"no listpack",), "listpack"),
        (rdb_set.LISTPACK, (listpack_of(b"a", b"b", b"a"),), "twice"),
    ],
)
def test_an_invalid_set_is_refused(code: int, parts: tuple[int | bytes, ...], reason: str) -> None:
    with pytest.raises(Corrupt, match=reason):
        rdb_set.read(reader_of(*parts), code, LIMITS)
