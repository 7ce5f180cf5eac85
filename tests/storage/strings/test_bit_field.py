"""Integers in the bits of a string compared with slices of a number in base 2."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from storage.strings.bit_field import FAIL, SATURATE, WRAP, BitField

INT64 = st.integers(0, 63).flatmap(lambda bits: st.integers(-(2**bits), 2**bits - 1)) | (
    st.sampled_from([-(2**63), 2**63 - 1])
)
OVERFLOWS = st.sampled_from([WRAP, SATURATE, FAIL])


@st.composite
def kinds(draw: st.DrawFn) -> tuple[bool, int]:
    """Whether an integer is signed, and its width."""
    signed = draw(st.booleans())
    return signed, draw(st.integers(1, 64 if signed else 63) | st.just(64 if signed else 63))


def limits(signed: bool, width: int) -> tuple[int, int]:
    return (-(2 ** (width - 1)), 2 ** (width - 1) - 1) if signed else (0, 2**width - 1)


def wrapped(number: int, signed: bool, width: int) -> int:
    number %= 2**width
    return number - 2**width if number > limits(signed, width)[1] else number


@given(st.binary(max_size=30), kinds(), st.integers(0, 300))
def test_it_is_read_as_if_zeros_followed(text: bytes, kind: tuple[bool, int], offset: int) -> None:
    signed, width = kind
    field = BitField(signed, width, offset)
    digits = "".join(f"{byte:08b}" for byte in text).ljust(500, "0")[offset : offset + width]
    assert field.read(text) == wrapped(int(digits, 2), signed, width)
    assert field.read(bytearray(text)) == field.read(text)
    assert field.end() == (offset + width + 7) // 8


@given(kinds(), st.integers(0, 2**63 - 1) | st.integers(2**63 - 200, 2**63 - 1))
def test_it_ends_behind_its_last_bit_wherever_it_is(kind: tuple[bool, int], offset: int) -> None:
    assert BitField(*kind, offset).end() == (offset + kind[1] + 7) // 8


@given(st.binary(min_size=50, max_size=50), kinds(), st.integers(0, 300), st.data())
def test_it_is_written_and_no_bit_beside_it(
    text: bytes, kind: tuple[bool, int], offset: int, data: st.DataObject
) -> None:
    signed, width = kind
    field = BitField(signed, width, offset)
    number = data.draw(st.integers(*limits(signed, width)))
    written = bytearray(text)
    field.write(written, number)
    digits = "".join(f"{byte:08b}" for byte in text)
    digits = digits[:offset] + f"{number % 2**width:0{width}b}" + digits[offset + width :]
    assert written == int(digits, 2).to_bytes(50, "big")
    assert field.read(written) == number


@given(kinds(), st.data(), INT64, OVERFLOWS)
def test_a_sum_wraps_stops_at_the_limit_or_fails(
    kind: tuple[bool, int], data: st.DataObject, number: int, overflow: int
) -> None:
    signed, width = kind
    least, most = limits(signed, width)
    old = data.draw(st.integers(least, most))
    total = old + number
    expected: int | None = wrapped(total, signed, width)
    if not least <= total <= most and overflow != WRAP:
        expected = None if overflow == FAIL else most if total > most else least
    assert BitField(signed, width, 3).increased(old, number, overflow) == expected


@given(kinds(), INT64, OVERFLOWS)
def test_a_new_number_is_fitted_likewise(
    kind: tuple[bool, int], number: int, overflow: int
) -> None:
    """A negative one is huge if the integer is unsigned, and if Redis's difference overflows."""
    signed, width = kind
    least, most = limits(signed, width)
    expected: int | None = wrapped(number, signed, width)
    is_huge = number < 0 and not signed
    if is_huge or not least <= number <= most:
        if overflow == FAIL:
            expected = None
        elif overflow == SATURATE:
            goes_up = number > most or is_huge or (width < 64 and most - number > 2**63 - 1)
            expected = most if goes_up else least
    assert BitField(signed, width, 3).replaced(number, overflow) == expected
