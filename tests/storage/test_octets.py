"""storage/octets: the plain Python functions; tests/twins compares the compiled ones with them."""

from __future__ import annotations

import ctypes

import pytest

from octets import buffers
from storage import octets

INT64 = [0, 1, -1, 9, 10, 2**31, -(2**31), 2**63 - 1, -(2**63)]
NOT_INT64 = [
    *(b"", b"-", b"+1", b"-0", b"00", b"01", b"-01", b" 1", b"1 ", b"1.0", b"1e3", b"0x1", b"1_0"),
    *(b"%d" % 2**63, b"%d" % (-(2**63) - 1), b"1" * 20, b"9" * 40, "\u0661".encode()),
]


@pytest.mark.parametrize("number", INT64)
def test_the_decimal_text_of_a_64_bit_number_is_recognized(number: int) -> None:
    text = b"%d" % number
    assert octets.is_int64(text)
    assert octets.int64_of(text) == number
    assert octets.decimal(number) == text


@pytest.mark.parametrize("text", NOT_INT64)
def test_other_text_is_not_a_64_bit_number(text: bytes) -> None:
    assert not octets.is_int64(text)


def test_binary_numbers_are_little_endian_and_read_back() -> None:
    buffer = bytearray(8)
    assert octets.put_u16(buffer, 1, 0x1234) == 3
    assert buffer == b"\x00\x34\x12\x00\x00\x00\x00\x00"
    assert octets.u16(buffer, 1) == 0x1234
    octets.put_u24(buffer, 1, -2)
    assert octets.i24(buffer, 1) == -2
    octets.put_u32(buffer, 0, -3)
    assert octets.i32(buffer, 0) == -3
    assert octets.u32(buffer, 0) == 2**32 - 3
    octets.put_i64(buffer, 0, -(2**63))
    assert octets.i64(buffer, 0) == -(2**63)
    octets.put_u16(buffer, 0, -5)
    assert octets.i16(buffer, 0) == -5


def test_the_key_of_an_id_sorts_as_the_id_does() -> None:
    ids = [(0, 0), (0, 1), (0, 256), (1, 0), (255, 2**64 - 1), (256, 0), (2**64 - 1, 5)]
    keys = [octets.id_key(ms, seq) for ms, seq in ids]
    assert keys == sorted(keys)
    assert [(octets.u64_be(key, 0), octets.u64_be(key, 8)) for key in keys] == ids
    assert octets.format_id(*ids[-1]) == b"18446744073709551615-5"


@pytest.mark.parametrize("length", [0, 1, 16, 200, 256, 257, 5000])
def test_what_was_shortened_is_as_long_as_asked_and_grows_again(length: int) -> None:
    text = bytes(range(256)) * 20
    for size in {0, length // 3, length}:
        buffer = octets.bytearray_of(text[:length])
        octets.shorten(buffer, size)
        assert buffer == text[:size]
        assert octets.capacity(buffer) >= size
        if length > 300:
            assert octets.capacity(buffer) < size + 300  # the rest is given back
        buffers.resize(buffer, length)
        assert buffer[:size] == text[:size]
        buffer += b"more"
        assert buffer.startswith(text[:size])
        assert buffer.endswith(b"more")


def test_drop_front_and_open_front_keep_the_rest_in_order() -> None:
    buffer = bytearray(b"abcdef")
    octets.drop_front(buffer, 2)
    assert buffer == b"cdef"
    octets.open_front(buffer, 3, 4)
    assert len(buffer) == 7
    assert buffer[4:] == b"cde"


def test_slices_can_be_moved_within_and_between_buffers() -> None:
    buffer = bytearray(b"0123456789")
    buffers.move(buffer, 2, 0, 5)
    assert buffer == b"0101234789"
    assert buffers.put_slice(buffer, 0, bytearray(b"abcdef"), 2, 3) == 3
    assert buffers.cut(buffer, 0, 4) == b"cde1"
    assert buffers.put(buffer, 8, b"!") == 9
    assert buffer == b"cde12347!9"
    buffers.resize(buffer, 3)
    assert buffer == b"cde"
    assert octets.holds(buffer, 1, b"de")
    assert not octets.holds(buffer, 0, b"de")


def test_an_exact_copy_has_no_spare_room() -> None:
    buffer = bytearray(b"x" * 100)
    buffers.resize(buffer, 10)
    assert octets.capacity(octets.exact(buffer, 5)) == 6  # and a closing NUL


@pytest.mark.parametrize(
    ("number", "base", "expected"),
    [
        (7, 5, 2),
        (5, 7, -2),
        (0, 0, 0),
        (octets.U64_MAX, 0, -1),
        (0, octets.U64_MAX, 1),
        (2**63, 0, -(2**63)),
        (2**63 - 1, 0, 2**63 - 1),
    ],
)
def test_id_delta_is_signed_and_id_plus_inverts_it(number: int, base: int, expected: int) -> None:
    assert octets.id_delta(number, base) == expected
    assert octets.id_plus(base, expected) == number


@pytest.mark.parametrize("now_ms", INT64)
@pytest.mark.parametrize("then_ms", INT64)
def test_the_time_since_then_wraps_around_as_in_c(then_ms: int, now_ms: int) -> None:
    assert octets.since(then_ms, now_ms) == ctypes.c_int64(now_ms - then_ms).value
