"""Elements of listpacks as RESP: runs of them, and listpacks that are too long for one run."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from protocol.encoder import Encoder
from server.reply import pack_reply
from storage.listpack.listpack import Listpack

ELEMENTS = st.lists(
    st.binary(max_size=70)
    | st.integers(-(2**63), 2**63 - 1).map(lambda n: b"%d" % n)
    | st.sampled_from([b"x" * 63, b"x" * 64, b"x" * 4095, b"x" * 4096]),
    min_size=1,
    max_size=30,
)


def pack_of(elements: list[bytes]) -> Listpack:
    pack = Listpack()
    for element in elements:
        pack.append(element)
    return pack


def bulks(elements: list[bytes]) -> bytes:
    return b"".join(b"$%d\r\n%b\r\n" % (len(element), element) for element in elements)


@given(ELEMENTS, st.data(), st.integers(0, 40))
def test_so_many_elements_are_written_or_as_many_as_there_are(
    elements: list[bytes], data: st.DataObject, most: int
) -> None:
    pack = pack_of(elements)
    first = data.draw(st.integers(0, len(elements) - 1))
    expected = elements[first : first + most]
    out = Encoder()
    out.raw(b"+before\r\n")
    assert pack_reply.write_elements(out, pack, pack.seek(first), most) == len(expected)
    assert out.take() == b"+before\r\n" + bulks(expected)


def test_a_long_listpack_takes_no_more_room_than_its_elements_need() -> None:
    elements = [b"%d" % number for number in range(20_000)]
    pack = pack_of(elements)
    out = Encoder()
    out.limit = 200_000
    assert pack_reply.write_elements(out, pack, pack.first(), 10_000) == 10_000
    assert not out.overflown
    assert out.take() == bulks(elements[:10_000])
