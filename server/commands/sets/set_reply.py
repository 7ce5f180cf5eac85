"""Members of a set as RESP, written straight from the bytes that hold them."""

from __future__ import annotations

from protocol.encoder import Encoder
from server.commands.shared import packed_reply
from storage.hash_table.packed_table import PackedTable
from storage.listpack.listpack import Listpack
from storage.sets import intset
from storage.sets.member_set import MemberSet


def write_set(out: Encoder, values: MemberSet) -> None:
    """Write all members as a set."""
    out.set(values.size())
    write_members(out, values)


def write_members(out: Encoder, values: MemberSet) -> None:
    """Write all members, one after the other."""
    members = values.members
    if isinstance(members, PackedTable):
        packed_reply.write_items(out, members, True, False)
    elif isinstance(members, Listpack):
        pack = members
        if pack.length():
            packed_reply.write_elements(out, pack, pack.first(), pack.length())
    else:
        for index in range(intset.length(members)):
            out.bulk_int(intset.get(members, index))


def write_found(out: Encoder, members: list[bytes]) -> None:
    """Write different *members* as a set."""
    out.set(len(members))
    for member in members:
        out.bulk(member)
