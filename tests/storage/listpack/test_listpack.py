"""Listpack: the same bytes as Redis, the size limits, and what the check refuses."""

from __future__ import annotations

import pytest

from storage import allocation
from storage.errors import Corrupt, TooLarge
from storage.listpack import listpack
from storage.listpack.listpack import Element, Listpack
from tests.used_memory import used_at_start

# The listpack in redis-server 7.0.15's DUMP of k after RPUSH k <value>.
GOLDEN = {
    b"0": "0900000001000001ff",
    b"127": "0900000001007f01ff",
    b"128": "0a0000000100c08002ff",
    b"-1": "0a0000000100dfff02ff",
    b"4095": "0a0000000100cfff02ff",
    b"-4096": "0a0000000100d00002ff",
    b"4096": "0b0000000100f1001003ff",
    b"-4097": "0b0000000100f1ffef03ff",
    b"32767": "0b0000000100f1ff7f03ff",
    b"-32768": "0b0000000100f1008003ff",
    b"32768": "0c0000000100f200800004ff",
    b"-32769": "0c0000000100f2ff7fff04ff",
    b"8388607": "0c0000000100f2ffff7f04ff",
    b"-8388608": "0c0000000100f200008004ff",
    b"8388608": "0d0000000100f30000800005ff",
    b"-8388609": "0d0000000100f3ffff7fff05ff",
    b"2147483647": "0d0000000100f3ffffff7f05ff",
    b"-2147483648": "0d0000000100f30000008005ff",
    b"2147483648": "110000000100f4000000800000000009ff",
    b"-2147483649": "110000000100f4ffffff7fffffffff09ff",
    b"9223372036854775807": "110000000100f4ffffffffffffff7f09ff",
    b"-9223372036854775808": "110000000100f4000000000000008009ff",
    b"9223372036854775808": "1c0000000100933932323333373230333638353437373538303814ff",
    b"-9223372036854775809": "1d0000000100942d3932323333373230333638353437373538303915ff",
    b"": "0900000001008001ff",
    b"a": "0a0000000100816102ff",
    b"007": "0c00000001008330303704ff",
    b"-0": "0b0000000100822d3003ff",
    b"+1": "0b0000000100822b3103ff",
    b" 1": "0b000000010082203103ff",
    b"1 ": "0b000000010082312003ff",
    b"1.0": "0c000000010083312e3004ff",
    b"-": "0a0000000100812d02ff",
}

# For a string of so many x: the bytes before and after the x.
GOLDEN_LONG = {
    63: ("480000000100bf", "40ff"),
    64: ("4a0000000100e040", "42ff"),
    125: ("870000000100e07d", "7fff"),
    126: ("890000000100e07e", "0180ff"),
    127: ("8a0000000100e07f", "0181ff"),
    4095: ("0a1000000100efff", "2081ff"),
    4096: ("0e1000000100f000100000", "2085ff"),
    16376: ("064000000100f0f83f0000", "7ffdff"),
    16377: ("074000000100f0f93f0000", "7ffeff"),
    16378: ("094000000100f0fa3f0000", "00ffffff"),
    16379: ("0a4000000100f0fb3f0000", "018080ff"),
    2097145: ("080020000100f0f9ff1f00", "7ffffeff"),
    2097146: ("0a0020000100f0faff1f00", "00ffffffff"),
    2097147: ("0b0020000100f0fbff1f00", "01808080ff"),
}

MIXED = [b"hello", b"1024", b"-7", b"", b"a" * 70, b"100000", b"9", b"-5000000000"]
GOLDEN_MIXED = (
    "7000000008008568656c6c6f06c40002dff9028001e04661616161616161616161616161616161616161616161"
    "616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161"
    "61616148f2a08601040901f4000efad5feffffff09ff"
)


def packed(*values: bytes) -> Listpack:
    listpack = Listpack()
    for value in values:
        listpack.append(value)
    return listpack


# ---------------------------------------------------------------------- the same bytes as Redis


@pytest.mark.parametrize("value", GOLDEN)
def test_a_value_has_the_bytes_that_redis_gives_it(value: bytes) -> None:
    assert packed(value).dump().hex() == GOLDEN[value]


@pytest.mark.parametrize("value", [*GOLDEN, b"", b"word", b"x" * 300, b"x" * 70_000])
def test_a_listpack_of_one_is_as_one_that_was_appended_to(value: bytes) -> None:
    before = used_at_start()
    appended = Listpack()
    appended.append(value)
    used = allocation.used_bytes() - before
    made = listpack.of_one(value)
    made.check()
    assert (made.dump(), made.count, made.size) == (appended.dump(), 1, appended.size)
    assert allocation.used_bytes() - before == 2 * used
    made.append(value)
    assert made.get_bytes(made.last()) == value
    del made, appended
    assert allocation.used_bytes() == before


@pytest.mark.parametrize("value", GOLDEN)
def test_a_value_is_read_from_redis_bytes(value: bytes) -> None:
    listpack = Listpack.load(bytes.fromhex(GOLDEN[value]))
    listpack.check()
    assert listpack.get_bytes(listpack.first()) == value
    assert listpack.last() == listpack.first()


@pytest.mark.parametrize("size", GOLDEN_LONG)
def test_a_long_string_has_the_bytes_that_redis_gives_it(size: int) -> None:
    head, tail = GOLDEN_LONG[size]
    value = b"x" * size
    listpack = packed(value)
    assert listpack.dump() == bytes.fromhex(head) + value + bytes.fromhex(tail)
    listpack.check()
    assert listpack.get_bytes(listpack.last()) == value


def test_a_backlen_grows_to_five_bytes() -> None:
    """Redis adds the fifth byte one size earlier than seven bits a byte would need it."""
    listpack = packed(bytes(268435450))
    assert bytes(listpack.data[listpack.size - 6 : listpack.size]).hex() == "00ffffffffff"
    assert listpack.last() == listpack.first()


def test_several_values_have_the_bytes_that_redis_gives_them() -> None:
    listpack = packed(*MIXED)
    assert listpack.dump().hex() == GOLDEN_MIXED
    assert list(listpack) == [b"hello", 1024, -7, b"", b"a" * 70, 100000, 9, -5000000000]


def test_the_count_is_65535_for_65535_elements_and_more() -> None:
    """A hash of 32768 fields has that count in Redis; one of 32767 has 65534."""
    listpack = Listpack()
    for _ in range(65534):
        listpack.append_int(1)
    assert listpack.dump()[4:6] == b"\xfe\xff"
    listpack.append_int(1)
    listpack.append_int(1)
    assert listpack.dump()[4:6] == b"\xff\xff"
    assert len(listpack) == 65536
    assert len(Listpack.load(listpack.dump())) == 65536


def test_a_count_of_65535_may_mean_fewer_elements() -> None:
    data = bytearray(packed(b"a", b"b").dump())
    data[4:6] = b"\xff\xff"
    for counted in (True, False):
        listpack = Listpack.load(bytes(data))
        if counted:
            listpack.check()
        listpack.append(b"c")
        assert len(listpack) == 3
        listpack.delete_range(1, 1)
        assert list(listpack) == [b"a", b"c"]
        assert len(listpack) == 2


def test_an_empty_listpack_has_no_elements() -> None:
    listpack = Listpack()
    assert listpack.dump() == b"\x07\x00\x00\x00\x00\x00\xff"
    assert listpack.first() == listpack.last() == listpack.seek(0) == listpack.seek(-1) == -1


# ---------------------------------------------------------------------- reading


def test_read_gives_a_string_s_position_or_an_integer_s_value() -> None:
    listpack, element = packed(b"abc", b"-300"), Element()
    after = listpack.read(listpack.first(), element)
    assert not element.is_int
    assert listpack.data[element.start : element.start + element.size] == b"abc"
    assert listpack.read(after, element) == -1
    assert element.is_int
    assert element.number == -300


def test_reading_text_as_an_integer_is_refused() -> None:
    listpack = packed(b"abc")
    with pytest.raises(Corrupt):
        listpack.get_int(listpack.first())


@pytest.mark.parametrize("value", [b"a", b"12", b"", b"x" * 100, b"x" * 5000, b"-7", b"last"])
def test_find_gives_the_first_position_of_a_value(value: bytes) -> None:
    listpack = packed(b"a", b"12", b"", b"x" * 100, b"x" * 5000, b"-7", b"a", b"last", b"012")
    at = listpack.find(value)
    assert listpack.matches(at, value)
    while (at := listpack.prev(at)) > 0:
        assert not listpack.matches(at, value)


def test_find_passes_over_elements() -> None:
    listpack = packed(b"a", b"b", b"1", b"a", b"b", b"1")
    assert listpack.find(b"b", 1) == listpack.seek(4)
    assert listpack.find(b"a", 2) == listpack.first()
    assert listpack.find(b"1", 1) == listpack.seek(2)
    assert listpack.find(b"1", 3) == -1
    assert packed().find(b"") == listpack.find(b"01") == listpack.find(b"c", 1) == -1


def test_an_integer_matches_only_its_own_text() -> None:
    listpack = packed(b"10", b"010")
    assert listpack.matches(listpack.first(), b"10")
    assert not listpack.matches(listpack.first(), b"010")
    assert listpack.matches(listpack.last(), b"010")
    assert not listpack.matches(listpack.last(), b"10")
    assert not listpack.matches(listpack.last(), b"0100")


# ---------------------------------------------------------------------- memory


def test_a_shrunk_listpack_has_no_spare_room() -> None:
    listpack = packed(*[b"value"] * 100)
    listpack.shrink()
    assert len(listpack.data) == listpack.size
    assert listpack.data.__sizeof__() - bytearray().__sizeof__() == listpack.size + 1


def test_an_element_that_is_larger_than_the_room_ahead_takes_none() -> None:
    listpack = packed(b"a", b"v" * 1_000_000)
    assert len(listpack.data) - listpack.size < 64


def test_a_drained_listpack_frees_its_memory() -> None:
    for take in (Listpack.take_first, Listpack.take_last):
        listpack = packed(*[b"value"] * 1000)
        while len(listpack) > 1:
            take(listpack)
        assert listpack.data.__sizeof__() < 200


@pytest.mark.parametrize("left", [True, False])
def test_a_listpack_used_as_a_queue_does_not_grow(left: bool) -> None:
    listpack = packed(*[b"value"] * 100)
    for _ in range(5000):
        if left:
            listpack.prepend(b"value")
            listpack.take_last()
        else:
            listpack.append(b"value")
            listpack.take_first()
    assert listpack.data.__sizeof__() < 4 * listpack.size


def test_reserving_more_than_a_gibibyte_is_refused_and_changes_nothing() -> None:
    listpack = packed(b"a", b"b")
    before = listpack.dump()
    with pytest.raises(TooLarge):
        listpack.reserve((1 << 30) - listpack.size + 1)
    assert listpack.dump() == before
    assert len(listpack.data) < 100


def test_an_element_that_exceeds_a_gibibyte_is_refused_at_every_position() -> None:
    listpack = packed(b"a", b"b")
    before = listpack.dump()
    larger = bytes((1 << 30) - 18)  # 10 bytes of encoding and 10 of the rest exceed the limit
    first, last = listpack.first(), listpack.last()
    for add in (
        lambda: listpack.append(larger),
        lambda: listpack.prepend(larger),
        lambda: listpack.insert(last, larger),
        lambda: listpack.insert(listpack.behind(first), larger),
        lambda: listpack.replace(first, larger),
    ):
        with pytest.raises(TooLarge):
            add()
        assert listpack.dump() == before


# ---------------------------------------------------------------------- what the check refuses


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ("", "no bytes"),
        ("070000000000", "no end"),
        ("08000000000000ff", "an element without a backlen"),
        ("08000000000000", "another total"),
        ("0700000000000000", "another total, no end"),
        ("06000000000000ff", "another total"),
        ("070000000000fe", "no FF"),
        ("070000000100ff", "a count of none"),
        ("0900000002000101ff", "a count too high"),
        ("0900000000000101ff", "a count too low"),
        ("0900000001000102ff", "a backlen too large"),
        ("0900000001000100ff", "a backlen too small"),
        ("0a0000000100bf6102ff", "a string beyond the end"),
        ("0a0000000100816103ff", "a string and another backlen"),
        ("0a0000000100f00102ff", "a long string without a length"),
        ("0d0000000100f0ffffffff05ff", "a long string beyond everything"),
        ("0d0000000100f0f9ffff7f05ff", "a long string beyond the end"),
        ("0a0000000100e04042ff", "a string beyond the end"),
        ("0b0000000100f1000003", "an integer and no end"),
        ("0a0000000100f400 09ff", "an integer beyond the end"),
        ("0900000001 00f501ff", "an unknown encoding"),
        ("090000000100fe01ff", "an unknown encoding"),
        ("090000000100ff01ff", "an end before the end"),
        ("0a000000010081618 2ff", "a backlen that goes on before the header"),
    ],
)
def test_the_check_refuses(data: str, why: str) -> None:
    with pytest.raises(Corrupt):
        Listpack.load(bytes.fromhex(data.replace(" ", ""))).check()


def test_the_check_refuses_every_truncated_listpack() -> None:
    data = packed(*MIXED).dump()
    for end in range(len(data)):
        with pytest.raises(Corrupt):
            Listpack.load(data[:end]).check()
