"""LZF, the compression of strings in an RDB."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.errors import Corrupt
from storage.rdb.lzf import Compressor, decompress

# How redis-server 7.0 compresses these texts in a DUMP.
KNOWN = [
    (b"abc" * 30, "0361626361e04b02016263"),
    (b"a" * 40, "016161e01b00016161"),
    (b"x" * 30, "017878e01100017878"),
]

repetitive = st.lists(
    st.tuples(st.binary(min_size=1, max_size=40), st.integers(1, 30)), max_size=8
).map(lambda runs: b"".join(run * times for run, times in runs))


@pytest.mark.parametrize(("text", "compressed"), KNOWN)
def test_compressed_bytes_are_the_same_as_redis_s(text: bytes, compressed: str) -> None:
    assert Compressor().compress(text) == bytes.fromhex(compressed)
    assert decompress(bytes.fromhex(compressed), len(text)) == text


@given(st.lists(repetitive, max_size=4))
def test_decompression_undoes_compression_whatever_was_compressed_before(
    texts: list[bytes],
) -> None:
    compressor = Compressor()
    for text in texts:
        compressed = compressor.compress(text)
        assert compressed == Compressor().compress(text)
        if compressed is not None:
            assert len(compressed) <= len(text) - 4
            assert decompress(compressed, len(text)) == text


@given(st.binary(max_size=200), st.integers(0, 5000))
def test_random_bytes_raise_nothing_but_corrupt(data: bytes, size: int) -> None:
    try:
        assert len(decompress(data, size)) == size
    except Corrupt:
        pass


def test_text_is_compressed_only_if_it_gets_four_bytes_shorter() -> None:
    noise = random.Random(7).randbytes(5000)
    assert Compressor().compress(noise) is None
    assert Compressor().compress(b"") is None
    assert Compressor().compress(b"aaaaaaa") is None


def test_matches_are_as_far_and_as_long_as_the_format_allows() -> None:
    noise = random.Random(5).randbytes(9000)
    for distance in (8191, 8192, 8193, 8200):
        text = noise[:distance] + noise[1:300]
        compressed = Compressor().compress(text)
        assert (compressed is not None) == (distance <= 8193)  # the match begins one byte later
        if compressed is not None:
            assert decompress(compressed, len(text)) == text
    zeros = bytes(1_000_000)
    compressed = Compressor().compress(zeros)
    assert compressed is not None
    assert len(compressed) < len(zeros) / 87
    assert decompress(compressed, len(zeros)) == zeros


@pytest.mark.parametrize(
    "data",
    [
        "2000",  # a reference before the beginning
        "0061e0",  # a long reference without its length
        "006120",  # a reference without its offset
        "1f61",  # a run of literals longer than the rest
        "0061e0ff05",  # an offset before the start of the output
    ],
)
def test_invalid_references_and_runs_are_refused(data: str) -> None:
    for size in range(300):
        with pytest.raises(Corrupt):
            decompress(bytes.fromhex(data), size)


def test_an_impossible_size_is_refused_before_memory_is_allocated() -> None:
    with pytest.raises(Corrupt, match="cannot make"):
        decompress(b"\x00a", 2**40)
    with pytest.raises(Corrupt):
        decompress(b"\x00a", 2)
    assert decompress(b"\x00a", 1) == b"a"
