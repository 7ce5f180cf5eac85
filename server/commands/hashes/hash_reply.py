"""Fields and values of a hash as RESP, written straight from the bytes that hold them."""

from __future__ import annotations

from protocol.encoder import Encoder
from server.commands.shared import packed_reply
from storage.hashes.hash import Hash
from storage.listpack.listpack import Element, Listpack

NONE = -1


def write_all(
    out: Encoder, value: Hash, fields: bool, values: bool, dead: frozenset[bytes]
) -> None:
    """Write all *fields*, all *values*, or both in turns; the caller has written the head.

    Fields that are *dead* have expired, and are left out.
    """
    if value.pack is not None:
        _write_pack(out, value.pack, fields, values)
    elif value.table is not None:
        packed_reply.write_items(out, value.table, fields, values)
    else:
        for field, text in value:
            if field not in dead:
                if fields:
                    out.bulk(field)
                if values:
                    out.bulk(text)


def _write_pack(out: Encoder, pack: Listpack, fields: bool, values: bool) -> None:
    at = pack.first()
    if at == NONE:
        return
    if fields and values:
        packed_reply.write_elements(out, pack, at, pack.length())
        return
    element = Element()
    while at != NONE:
        at = pack.read(at, element)
        if fields:
            packed_reply.write_element(out, pack, element)
        at = pack.read(at, element)
        if values:
            packed_reply.write_element(out, pack, element)


def write_values_of(
    out: Encoder, value: Hash | None, words: list[bytes], first: int, dead: frozenset[bytes]
) -> None:
    """Write the values of the fields ``words[first:]`` as an array; null where there is none.

    Fields that are *dead* have expired.
    """
    out.array(len(words) - first)
    element = Element()
    for at in range(first, len(words)):
        if value is not None and value.pack is not None:
            place = value.pack.find(words[at], 1)
            if place == NONE:
                out.null()
            else:
                value.pack.read(value.pack.behind(place), element)
                packed_reply.write_element(out, value.pack, element)
        else:
            out.write(None if value is None or words[at] in dead else value.get(words[at]))
