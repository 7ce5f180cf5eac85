"""RdbWriter and RdbReader: lengths, strings and numbers are read back as written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.errors import Corrupt
from storage.rdb.reader import RdbReader
from storage.rdb.writer import RdbWriter

LENGTHS = {
    0: "00",
    63: "3f",
    64: "4040",
    16383: "7fff",
    16384: "8000004000",
    2**32 - 1: "80ffffffff",
    2**32: "810000000100000000",
    2**64 - 1: "81ffffffffffffffff",
}

STRINGS = {
    b"": "00",
    b"0": "c000",
    b"-128": "c080",
    b"127": "c07f",
    b"128": "c18000",
    b"-32768": "c10080",
    b"32768": "c200800000",
    b"-2147483648": "c200000080",
    b"2147483647": "c2ffffff7f",
    b"2147483648": "0a" + b"2147483648".hex(),
    b"-2147483649": "0b" + b"-2147483649".hex(),
    b"-0": "02" + b"-0".hex(),
    b"-": "01" + b"-".hex(),
    b"01": "02" + b"01".hex(),
    b"+1": "02" + b"+1".hex(),
    b"99999999999": "0b" + b"99999999999".hex(),
    b"a" * 20: "14" + "61" * 20,
    b"a" * 21: "c30615016161e00a00",
}


@pytest.mark.parametrize(("number", "written"), LENGTHS.items())
def test_a_length_takes_as_few_bytes_as_it_can(number: int, written: str) -> None:
    writer = RdbWriter()
    writer.length(number)
    data = writer.take()
    assert data.hex() == written
    assert RdbReader(data).length() == number
    for end in range(len(data)):
        with pytest.raises(Corrupt):
            RdbReader(data[:end]).length()


@pytest.mark.parametrize(("text", "written"), STRINGS.items())
def test_a_string_is_stored_as_a_number_or_compressed_if_that_is_shorter(
    text: bytes, written: str
) -> None:
    writer = RdbWriter()
    writer.string(text)
    data = writer.take()
    assert data.hex() == written
    assert RdbReader(data).string() == text
    for end in range(len(data)):
        with pytest.raises(Corrupt):
            RdbReader(data[:end]).string()


@pytest.mark.parametrize("number", [0, -1, 127, -129, 2**31 - 1, -(2**31) - 1, 2**63 - 1, -(2**63)])
def test_a_number_is_written_like_its_text(number: int) -> None:
    writer = RdbWriter()
    writer.int_string(number)
    data = writer.take()
    writer.string(b"%d" % number)
    assert data == writer.take()
    found = RdbReader(data).string_or_int()
    assert found == (number if abs(number) < 2**31 else b"%d" % number)


def test_without_compression_long_strings_are_written_as_they_are() -> None:
    writer = RdbWriter(compress=False)
    writer.string(b"a" * 100)
    assert writer.take() == b"\x40\x64" + b"a" * 100


@given(st.lists(st.one_of(st.binary(max_size=30), st.binary(max_size=3).map(lambda b: b * 5000))))
def test_strings_and_lengths_are_read_back_as_written(texts: list[bytes]) -> None:
    writer = RdbWriter()
    for text in texts:
        writer.string(text)
        writer.length(len(text))
    reader = RdbReader(memoryview(b"__" + writer.take()), 2)
    for text in texts:
        at = reader.position
        assert reader.string() == text
        reader.position = at
        assert reader.owned_string() == bytearray(text)
        assert reader.length() == len(text)
    assert reader.left() == 0
    assert writer.take() == b""


def test_fixed_size_numbers_are_little_endian_and_stream_ids_big_endian() -> None:
    writer = RdbWriter()
    writer.u16(0x0A0B)
    writer.u64(2**64 - 2)
    writer.i64(-2)
    writer.id(1, 2)
    writer.byte(255)
    data = writer.take()
    assert data.hex() == "0b0a" + 2 * ("fe" + "ff" * 7) + "00" * 7 + "01" + "00" * 7 + "02ff"
    reader = RdbReader(data, 2)
    assert reader.u64() == 2**64 - 2
    assert reader.i64() == -2
    assert reader.plain(16) == data[18:34]
    assert reader.byte() == 255
    with pytest.raises(Corrupt):
        reader.byte()


def test_a_length_beyond_the_end_of_the_data_is_refused() -> None:
    for size in ("05", "4005", "8000000005", "8100000000ffffffff", "81ffffffffffffffff"):
        with pytest.raises(Corrupt, match="more bytes are announced"):
            RdbReader(bytes.fromhex(size) + b"four").string()
        with pytest.raises(Corrupt, match="more is announced"):
            RdbReader(bytes.fromhex(size) + b"four").count(1)
    assert RdbReader(b"\x02four").count(2) == 2
    with pytest.raises(Corrupt):
        RdbReader(b"\x02four").count(3)
    with pytest.raises(Corrupt):
        RdbReader(b"\xc3\x02\x81" + b"\xff" * 8 + b"\x00a").string()  # expands to 2^64
    with pytest.raises(Corrupt):
        RdbReader(b"\xc3\x81" + b"\xff" * 8 + b"\x01\x00a").string()  # 2^64 compressed bytes


@pytest.mark.parametrize("data", ["c4", "82", "bf0000000000000000", "c5ff", "ff"])
def test_unknown_encodings_are_refused(data: str) -> None:
    with pytest.raises(Corrupt, match="unknown encoding"):
        RdbReader(bytes.fromhex(data)).string()


def test_an_encoded_string_is_refused_where_a_length_belongs() -> None:
    with pytest.raises(Corrupt, match="where a length belongs"):
        RdbReader(b"\xc0\x05").length()


def test_a_closed_reader_releases_its_buffer() -> None:
    data = bytearray(b"\x01a")
    reader = RdbReader(data)
    with pytest.raises(BufferError):
        data.append(0)
    reader.close()
    data.append(0)
    with pytest.raises(Corrupt):
        reader.byte()
