"""protocol/wire: the plain Python functions; tests/twins compares the compiled ones with them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octets import buffers
from protocol import wire

INT64 = st.integers(-(2**63), 2**63 - 1)
ROOM = 40  # bytes; no head is longer


def written(put: str, *args: object) -> bytes:
    """The bytes that the function named *put* writes after a first byte that is already there."""
    buffer = bytearray(b"<" + bytes(ROOM))
    end: int = getattr(buffers if put in ("put", "put_slice") else wire, put)(buffer, 1, *args)
    assert len(buffer) == 1 + ROOM
    assert buffer[:1] == b"<"
    assert not any(buffer[end:])
    return bytes(buffer[1:end])


@pytest.mark.parametrize(
    ("put", "args", "expected"),
    [
        ("put", (b"abc",), b"abc"),
        ("put", (b"",), b""),
        ("put_slice", (bytearray(b"abcde"), 1, 3), b"bcd"),
        ("put_head", (ord("*"), 0), b"*0\r\n"),
        ("put_head", (ord(":"), -10), b":-10\r\n"),
        ("put_bulk", (b"",), b"$0\r\n\r\n"),
        ("put_bulk", (b"a\r\nb",), b"$4\r\na\r\nb\r\n"),
        ("put_bulk_slice", (bytearray(b"abcde"), 4, 1), b"$1\r\ne\r\n"),
        ("put_bulk_number", (-12,), b"$3\r\n-12\r\n"),
    ],
)
def test_put_functions_write_these_bytes(
    put: str, args: tuple[object, ...], expected: bytes
) -> None:
    assert written(put, *args) == expected


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1])
def test_a_number_beyond_64_bits_is_refused(number: int) -> None:
    with pytest.raises(OverflowError):
        written("put_head", ord(":"), number)
    with pytest.raises(OverflowError):
        written("put_bulk_number", number)


@given(INT64)
def test_decimal_size_is_the_size_written(number: int) -> None:
    size = wire.decimal_size(number)
    assert size == len(str(number))
    assert len(written("put_head", ord(":"), number)) == size + 3 <= 23
    assert len(written("put_bulk_number", number)) <= 27


def test_resize_keeps_the_bytes() -> None:
    buffer = bytearray(b"abc")
    buffers.resize(buffer, 10)
    assert len(buffer) == 10
    assert buffer[:3] == b"abc"


def test_move_copies_overlapping_bytes() -> None:
    buffer = bytearray(b"..abcdef__")
    buffers.move(buffer, 4, 2, 6)
    assert buffer[4:] == b"abcdef"
    assert len(buffer) == 10


def test_pieces_are_copies() -> None:
    buffer = bytearray(b"abcde")
    piece = buffers.cut(buffer, 1, 3)
    buffer[1] = 0
    assert piece == b"bc"
    assert wire.cut_bytes(b"abcde", 1, 3) == b"bc"
    assert wire.join(b"abcde", 3, bytearray(b"fg")) == b"defg"


def test_find_searches_between_start_and_stop() -> None:
    assert wire.find(b"a.b.c", ord("."), 0, 5) == 1
    assert wire.find(b"a.b.c", ord("."), 2, 5) == 3
    assert wire.find(b"a.b.c", ord("."), 2, 3) == -1
    assert wire.find(b"a.b.c", ord("c"), 0, 99) == 4
    assert wire.find(b"abc", ord("a"), 3, 99) == -1


@pytest.mark.parametrize(
    ("at", "head", "expected"),
    [(0, b"ab", True), (1, b"bc", True), (1, b"ab", False), (2, b"cd", False), (3, b"", True)],
)
def test_starts_with_compares_at_one_position(at: int, head: bytes, expected: bool) -> None:
    assert wire.starts_with(b"abc", at, head) == expected


@given(st.integers(-(10**18) + 1, 10**18 - 1))
def test_read_number_reads_18_digits(number: int) -> None:
    text = b"%d" % number
    assert wire.read_number(b"<" + text + b">", 1, 1 + len(text)) == number


@pytest.mark.parametrize(
    "text",
    [
        *[b"", b"-", b"+1", b" 1", b"1 ", b"01", b"-0", b"-01", b"--1", b"1_0", b"0x1", b"1."],
        *[b"9" * 19, "\u0661".encode(), b"1\x00"],
    ],
)
def test_other_text_is_not_a_number(text: bytes) -> None:
    """Redis is as strict."""
    assert wire.read_number(text, 0, len(text)) == wire.NOT_A_NUMBER


@given(st.integers(0, 10**wire.PLAIN_DIGITS - 1), st.binary(max_size=3))
def test_a_plain_head_is_read_and_its_size_follows_from_its_number(
    number: int, rest: bytes
) -> None:
    head = b"$%d\r\n" % number
    assert wire.read_plain_head(b"<" + head + rest, 1, ord("$")) == number
    assert wire.plain_head_size(number) == len(head)


@pytest.mark.parametrize(
    "data",
    [
        *[b"", b"$", b"$1", b"$1\r", b"*1\r\n", b"$\r\n", b"$-1\r\n", b"$01\r\n", b"$00\r\n"],
        *[b"$x\r\n", b"$1x\r\n", b"$1\rx\n", b"$1\n\n", b"$1234567890\r\n", b"\r\n", b"x$1\r\n"],
    ],
)
def test_an_unusual_head_is_left_to_the_slow_path(data: bytes) -> None:
    assert wire.read_plain_head(data, 0, ord("$")) == -1
    assert wire.read_plain_head(data, len(data), ord("$")) == -1
