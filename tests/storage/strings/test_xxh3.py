"""XXH3: known answers for each way in which a length is hashed."""

from __future__ import annotations

import pytest

from storage.strings import xxh3

# Of the library xxhash 4.1.0, whose text was these bytes: 0, 1, ... 250, 0, 1, ...
KNOWN = {
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


@pytest.mark.parametrize("size", KNOWN)
def test_a_text_of_each_length_has_its_hash(size: int) -> None:
    assert xxh3.hashed(text_of(size)) == KNOWN[size]


@pytest.mark.parametrize("size", [0, 3, 8, 16, 100, 200, 3000])
def test_a_bytearray_is_hashed_as_its_bytes(size: int) -> None:
    assert xxh3.hashed(bytearray(text_of(size))) == xxh3.hashed(text_of(size))


def test_the_answer_of_redis_s_documentation() -> None:
    assert xxh3.hashed(b"Hello world") == 0xB6ACB9D84A38FF74
