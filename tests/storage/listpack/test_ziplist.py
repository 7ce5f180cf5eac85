"""Ziplists, which old RDB files hold; tests/compat/test_rdb_exchange.py gives them to Redis too."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.errors import Corrupt
from storage.listpack import ziplist

# Every encoding of storage/listpack/ziplist.py; each entry begins with its prevlen.
ENTRIES = [
    ("00" "01" "61", b"a"),
    ("03" "40ff" + "62" * 255, b"b" * 255),
    ("fe02010000" "80000000ff" + "63" * 255, b"c" * 255),
    ("fe09010000" "c0ff7f", 32767),
    ("08" "d0feffffff", -2),
    ("06" "e00000000000000080", -(2**63)),
    ("0a" "f0000080", -(2**23)),
    ("05" "fe80", -128),
    ("03" "f1", 0),
    ("02" "fd", 12),
    ("02" "00", b""),
]  # fmt: skip


def ziplist_of(*entries: str) -> bytes:
    """A ziplist of *entries*, each given in hex with its prevlen."""
    body = bytes.fromhex("".join(entries))
    tail = 10 + len(body) - (len(entries[-1]) // 2 if entries else 0)
    head = (11 + len(body)).to_bytes(4, "little") + tail.to_bytes(4, "little")
    return head + len(entries).to_bytes(2, "little") + body + b"\xff"


def test_every_encoding_is_read() -> None:
    pack = ziplist.to_listpack(ziplist_of(*(entry for entry, _ in ENTRIES)))
    pack.check()
    assert list(pack) == [value for _, value in ENTRIES]


def test_an_empty_ziplist_becomes_an_empty_listpack() -> None:
    assert len(ziplist.to_listpack(ziplist_of())) == 0


def test_a_count_of_65535_means_that_the_count_is_unknown() -> None:
    data = bytearray(ziplist_of(ENTRIES[0][0]))
    data[8:10] = b"\xff\xff"
    assert list(ziplist.to_listpack(bytes(data))) == [b"a"]


@pytest.mark.parametrize(
    ("at", "byte", "reason"),
    [
        (0, 0x0F, "total"),
        (4, 0x0B, "tail"),
        (8, 2, "counts"),
        (10, 1, "prevlen"),
        (11, 2, "beyond"),
        (11, 0xFF, "encoding"),
        (11, 0xC0, "beyond"),
        (13, 0xFE, "end with FF"),
    ],
)
def test_an_inconsistent_ziplist_is_refused(at: int, byte: int, reason: str) -> None:
    data = bytearray(ziplist_of(ENTRIES[0][0]))
    data[at] = byte
    with pytest.raises(Corrupt, match=reason):
        ziplist.to_listpack(bytes(data))


@given(st.binary(max_size=60))
def test_random_bytes_raise_nothing_but_corrupt(body: bytes) -> None:
    for data in (
        body,
        (11 + len(body)).to_bytes(4, "little") + b"\x0a\0\0\0\xff\xff" + body + b"\xff",
    ):
        try:
            ziplist.to_listpack(data).check()
        except Corrupt:
            pass
