"""Texts in the data of a packed segment: their bytes."""

from __future__ import annotations

import pytest

from storage.hash_table import packed_octets


@pytest.mark.parametrize(
    ("size", "head"),
    [(0, "00"), (1, "01"), (127, "7f"), (128, "8080"), (255, "80ff"), (256, "8100"), (511, "81ff")],
)
def test_a_text_is_its_length_and_its_bytes(size: int, head: str) -> None:
    text = b"t" * size
    data = bytearray(1 + packed_octets.space_of(size))
    end = packed_octets.put_text(data, 1, text)
    assert end == len(data) == packed_octets.behind(data, 1)
    assert data == b"\0" + bytes.fromhex(head) + text
    assert not packed_octets.is_far(data, 1)
    assert packed_octets.size_of(data, 1) == size
    assert packed_octets.text_at(data, 1, None) == text
    assert packed_octets.is_text(data, 1, None, text)
    assert not packed_octets.is_text(data, 1, None, text + b"t")


def test_a_far_text_is_its_number() -> None:
    text = b"t" * 512
    data = bytearray(packed_octets.space_of(512))
    assert packed_octets.put_far(data, 0, 0x01020304) == packed_octets.behind(data, 0) == len(data)
    assert data.hex() == "ff04030201"
    assert packed_octets.is_far(data, 0)
    assert packed_octets.number_of(data, 0) == 0x01020304
    packed_octets.put_far(data, 0, 1)
    assert packed_octets.text_at(data, 0, [None, text]) is text
    assert packed_octets.is_text(data, 0, [None, text], b"t" * 512)
    assert not packed_octets.is_text(data, 0, [None, text], b"T" * 512)
    assert not packed_octets.is_text(data, 0, [None, text], b"t")


def test_a_list_without_places_takes_memory_and_none_does_not() -> None:
    assert packed_octets.list_room(None) == 0
    assert packed_octets.list_room([]) == packed_octets.LIST
    assert packed_octets.list_room([b""] * 8) == packed_octets.LIST + 64
