"""The steps that set commands are made of, and members as RESP, straight from their bytes."""

from __future__ import annotations

from collections.abc import Sequence

from protocol.encoder import Encoder
from server.commands.shared import packed_reply
from server.dispatch.call import Call
from storage.hash_table.packed_table import PackedTable
from storage.listpack.listpack import Listpack
from storage.sets import intset
from storage.sets.member_set import MemberSet
from storage.sets.value_type import SET


def add_members(call: Call, key: bytes, words: list[bytes], first: int) -> int:
    """Add ``words[first:]`` to the set at *key*, made if needed. Returns how many were new."""
    db = call.db
    limits = call.server.node_limits.sets
    values: MemberSet | None = db.lend(key, MemberSet)
    fresh = values is None
    if values is None:
        text = SET.packed_words(words, first, limits)
        if text is not None:
            db.add_packed(key, SET, text)
            db.changed(key, b"sadd", changes=len(words) - first)
            return len(words) - first
        values = MemberSet()
    values.expect(words[first], len(words) - first, limits)
    added = 0
    for at in range(first, len(words)):
        if values.add(words[at], limits):
            added += 1
    if fresh:
        db.add(key, values, packs=True)
    else:
        db.give_back(key, values)
    if added:
        db.changed(key, b"sadd", changes=added)
    return added


def removed(
    call: Call,
    key: bytes,
    values: MemberSet,
    event: bytes,
    count: int,
    log: Sequence[bytes] | None = None,
) -> None:
    """Tell that *count* members were removed; delete the set if it is empty now.

    *log*: see Keyspace.changed.
    """
    call.db.changed(key, event, changes=count, log=log)
    if values.size() == 0:
        delete(call, key, 0)


def delete(call: Call, key: bytes, changes: int = 1) -> None:
    """Delete the key, if it exists, and report that."""
    if call.db.remove(key):
        call.db.changed(key, b"del", changes=changes)


def read_all(call: Call, keys: list[bytes]) -> list[MemberSet | None]:
    """The sets at *keys*, None for each that does not exist. Raises WrongType."""
    return [call.db.read(key, MemberSet) for key in keys]


def store(call: Call, key: bytes, values: MemberSet, event: bytes) -> int:
    """Put *values* at *key*, whatever was there; an empty set deletes it. Returns the size."""
    size = values.size()
    if size:
        call.db.put(key, values)
        call.db.changed(key, event)
    else:
        delete(call, key)
    return size


# ---------------------------------------------------------------------- replies


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
