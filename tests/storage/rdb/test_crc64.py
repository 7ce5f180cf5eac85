"""CRC-64, the checksum at the end of RDB files and DUMP payloads."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from storage.rdb.crc64 import crc64

POLYNOMIAL = 0xAD93D23594C935A9


def bit_by_bit(data: bytes) -> int:
    """The definition: each byte's lowest bit enters first, and the result's bits are reversed."""
    crc = 0
    for byte in data:
        for bit in range(8):
            crc ^= (byte >> bit & 1) << 63
            crc = crc << 1 & 2**64 - 1 ^ (POLYNOMIAL if crc >> 63 else 0)
    return int(f"{crc:064b}"[::-1], 2)


def test_the_check_value_is_the_one_in_redis_s_crc64() -> None:
    assert crc64(b"123456789") == 0xE9C6D914C4B8D9CA
    assert crc64(b"") == 0


@given(st.binary(max_size=120))
def test_the_checksum_agrees_with_its_definition_bit_by_bit(data: bytes) -> None:
    assert crc64(data) == bit_by_bit(data)


@given(st.binary(max_size=120), st.integers(0, 120))
def test_the_checksum_can_be_computed_in_pieces(data: bytes, cut: int) -> None:
    assert crc64(data[cut:], crc64(data[:cut])) == crc64(data)
