# cython: boundscheck=False, wraparound=False
"""Elements of a listpack as bulk strings, copied from buffer to buffer in one run."""

from __future__ import annotations

from protocol import octets
from protocol.encoder import Encoder
from storage.listpack import element_octets
from storage.listpack.listpack import Element, Listpack

NONE = -1
END = 0xFF  # the last byte of a listpack
PER_ELEMENT = 28  # bytes: more than a bulk string takes besides its text, or with a number
MUCH = 16384  # bytes: for more of a listpack, room is made element by element


def write_elements(out: Encoder, pack: Listpack, at: int, most: int) -> int:
    """Write the elements from position *at* on, *most* or as many as there are; return how many."""
    left = pack.size - at
    if left > MUCH:
        return _write_one_by_one(out, pack, at, most)
    out.reserve(left + min(most, left >> 1) * PER_ELEMENT)
    buffer = out.buffer
    to = out.end
    data = pack.data
    count = 0
    while count < most and data[at] != END:
        size = element_octets.encoded_size(data, at)
        if element_octets.is_string(data, at):
            head = element_octets.head_size(data, at)
            to = octets.put_bulk_slice(buffer, to, data, at + head, size - head)
        else:
            to = octets.put_bulk_number(buffer, to, element_octets.number_at(data, at))
        at += size + element_octets.backlen_size(size)
        count += 1
    out.end = to
    return count


def _write_one_by_one(out: Encoder, pack: Listpack, at: int, most: int) -> int:
    element = Element()
    count = 0
    while count < most and at != NONE:
        at = pack.read(at, element)
        write_element(out, pack, element)
        count += 1
    return count


def write_element(out: Encoder, pack: Listpack, element: Element) -> None:
    """Write what was read into *element*."""
    if element.is_int:
        out.bulk_int(element.number)
    else:
        out.bulk_slice(pack.data, element.start, element.size)
