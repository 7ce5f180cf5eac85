"""Members of a set as RESP, written straight from the bytes that hold them."""

from __future__ import annotations

from protocol.encoder import Encoder
from storage.sets.member_set import MemberSet
from storage.sets.member_walk import MemberWalk


def write_set(out: Encoder, values: MemberSet) -> None:
    """Write all members as a set."""
    out.set(values.size())
    write_members(out, values)


def write_members(out: Encoder, values: MemberSet) -> None:
    """Write all members, one after the other."""
    member = values.walk()
    while member.next():
        write_member(out, member)


def write_member(out: Encoder, member: MemberWalk) -> None:
    """Write the member at which the walk *member* stands."""
    if member.is_int:
        out.bulk_int(member.number)
    elif member.whole is not None:
        out.bulk(member.whole)
    elif member.data is not None:
        out.bulk_slice(member.data, member.start, member.size)
