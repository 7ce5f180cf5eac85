"""XXH3 of 64 and of 128 bits, against answers of the reference implementation."""

from __future__ import annotations

import pytest

from storage import xxh3

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
    assert xxh3.digest(data) == low[::-1] + high[::-1]


# Of the library xxhash 4.1.0, whose text was these bytes: 0, 1, ... 250, 0, 1, ...
OF_64_BITS = {
    0: 0x2D06800538D394C2,
    1: 0xC44BDFF4074EECDB,
    2: 0xD6645FC3051A9457,
    3: 0x5F4299FC161C9CBB,
    4: 0x60DAB036A58211F2,
    5: 0xB075753A84CA0FBE,
    7: 0x0CD2084A62406B69,
    8: 0x3A1C2D7C85AF88F8,
    9: 0xE9612598145BB9DC,
    12: 0x5ACE6A511C10894B,
    16: 0x8355E3A6F61770DB,
    17: 0x9EF341A99DE37328,
    31: 0x4F36DB8E4DF378FD,
    32: 0x3523581FE96E4C05,
    33: 0xE68C56BA88991E58,
    63: 0xAAA5F0FB98A36AE8,
    64: 0x6187EB9089B0ED55,
    65: 0x6928C76CE90422D0,
    96: 0x278A3E12EA046DFB,
    97: 0xE7220282DC4E14F4,
    128: 0x85C6174C7FF4C46B,
    129: 0xEC7642B431BA3E5A,
    143: 0x8222E885F060341D,
    144: 0x028E1E35FF4C0A01,
    160: 0x5BEA9075EC9401B8,
    239: 0x972B14E3C46F214B,
    240: 0x375A384D957FE865,
    241: 0x02E8CD95421C6D02,
    256: 0x44F5D90DACDE463A,
    257: 0x88FC3F7934A6C9BE,
    1023: 0xD3D91D80AC495685,
    1024: 0xE5D78BAFA45B2AA5,
    1025: 0xE95C42288F28186E,
    1088: 0x1A848D807034C403,
    2048: 0x25339063DB861586,
    2049: 0x6C9600C0E506E2AE,
    5000: 0xB418500FC42320EE,
    100000: 0x42C23AEEAD96750D,
}


def text_of(size: int) -> bytes:
    return bytes(at % 251 for at in range(size))


@pytest.mark.parametrize("size", OF_64_BITS)
def test_a_text_of_each_length_has_its_hash(size: int) -> None:
    assert xxh3.hashed(text_of(size)) == OF_64_BITS[size]


@pytest.mark.parametrize("size", [0, 3, 8, 16, 100, 200, 3000])
def test_a_bytearray_is_hashed_as_its_bytes(size: int) -> None:
    assert xxh3.hashed(bytearray(text_of(size))) == xxh3.hashed(text_of(size))


@pytest.mark.parametrize("size", [0, 4, 8, 9, 16, 17, 128, 129, 240])
def test_a_part_is_hashed_by_another_secret(size: int) -> None:
    data = bytearray(b"before" + text_of(size) + b"after")
    assert xxh3.keyed(data, 6, size, xxh3.SECRET) == xxh3.hashed(text_of(size))
    assert xxh3.keyed(data, 6, size, bytes(range(192))) != xxh3.hashed(text_of(size))


def test_the_answer_of_redis_s_documentation() -> None:
    assert xxh3.hashed(b"Hello world") == 0xB6ACB9D84A38FF74
