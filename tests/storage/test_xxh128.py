"""XXH3 of 128 bits, against answers of the reference implementation."""

from __future__ import annotations

import pytest

from storage import xxh128

KNOWN = [  # of the bytes 0, 7, 14 .. (modulo 256), how many there are, and the hash in hexadecimal
    (0, "99aa06d3014798d86001c324468d497f"),
    (1, "a6cd5e9392000f6ac44bdff4074eecdb"),
    (3, "656e81c56e41fe02c3489259e968ad9e"),
    (4, "ab5c3e7474d809db81a65295de8e7dde"),
    (8, "e4b9dd0b66ff3c50ebabbd0695002ff6"),
    (9, "82ddc95bc76007671c69c3f04aaed08c"),
    (16, "ddf6c1254d70f76794eaa17b20756f46"),
    (17, "263f67af63088041735fe434ded90c3c"),
    (32, "a86b514658f976a5407920045a9a834c"),
    (33, "a943d80ce26ed2928b59b4dfba3c9de4"),
    (128, "dd9e5aa9bd51cc9cc6bd21ecc865f29f"),
    (129, "00433635cf8d872e7f4accb76587485b"),
    (130, "5340617cf4d03829e1dddd718dcc8e41"),
    (159, "7e5ed0979c17965d080a71c9e181d203"),
    (160, "2282232242346ee608d4baacce68f2d0"),
    (240, "89e3a0a2ee355d25d10beb4e0599e4b3"),
    (241, "75f4da43f23cce5a541b19226f0052e8"),
    (256, "2f433606b2ebce2dff5a1cefade75bb9"),
    (1024, "8bbb9f7af37f2f52dc5acf0b043c445b"),
    (1025, "20609de0583fad86e1d9cd946277ae26"),
    (1088, "ff7fb66068aaee0f4a9c221912b93194"),
    (3000, "7ab4ea880b3e81046168bb188259cccf"),
]


@pytest.mark.parametrize(("size", "digest"), KNOWN)
def test_the_hash_is_the_reference_s(size: int, digest: str) -> None:
    data = bytes(number * 7 & 255 for number in range(size))
    high, low = bytes.fromhex(digest)[:8], bytes.fromhex(digest)[8:]
    assert xxh128.digest(data) == low[::-1] + high[::-1]


def test_the_bytes_of_a_number_are_turned_round() -> None:
    assert xxh128.swap(0x0102030405060708) == 0x0807060504030201
    assert xxh128.swap(0xFF) == 0xFF << 56
