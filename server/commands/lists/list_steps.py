"""The steps that list commands are made of, blocking or not: push, pop, move.

Each step keeps the rules that list commands share: an emptied list is deleted, a new one wakes the
clients that wait for it, and every change is told under the event name of redis.
"""

from __future__ import annotations

from collections.abc import Sequence

from protocol.encoder import Encoder
from server.commands.shared import packed_reply
from server.dispatch.call import Call
from server.table import errors
from server.table.args import Args
from storage.keyspace.key_changes import NOTHING
from storage.lists.quicklist import QuickList, new_quicklist
from storage.lists.quicklist_iterator import QuickListIterator

LEFT, RIGHT = b"LEFT", b"RIGHT"


def find_list(call: Call, key: bytes) -> QuickList | None:
    """The list at *key*, to be changed: its nodes follow the sizes configured now."""
    values: QuickList | None = call.db.find(key, QuickList)
    if values is not None:
        values.follow(call.server.node_limits.list_size)
    return values


def push(call: Call, key: bytes, words: list[bytes], first: int, left: bool) -> int:
    """Push ``words[first:]`` to the list at *key*, created if needed. Returns its length."""
    db = call.db
    values = find_list(call, key)
    fresh = values is None
    if values is None:
        values = new_quicklist(call.server.node_limits.list_size)
    for at in range(first, len(words)):
        if left:
            values.push_left(words[at])
        else:
            values.push_right(words[at])
    if fresh:
        db.add(key, values)
    else:
        tell_longer(call, key)
    db.changed(key, b"lpush" if left else b"rpush", changes=len(words) - first)
    return len(values)


def tell_longer(call: Call, key: bytes) -> None:
    """The list at *key*, which was there, has more elements: who waits for so many is woken."""
    blocking = call.server.blocking
    if blocking.waiting_for_more:
        blocking.list_longer(call.db.index, key)


def pop(
    call: Call, key: bytes, values: QuickList, left: bool, log: Sequence[bytes] | None = None
) -> bytes:
    """Take one element off the list at *key*, which is not empty. *log*: see Keyspace.changed."""
    element = values.pop_left() if left else values.pop_right()
    assert element is not None
    popped(call, key, values, left, 1, log)
    return element


def pop_many(
    call: Call,
    key: bytes,
    values: QuickList,
    left: bool,
    count: int,
    log: Sequence[bytes] | None = None,
) -> list[bytes]:
    """Take up to *count* elements off the list at *key*."""
    count = min(count, len(values))
    elements = [values.pop_left() if left else values.pop_right() for _ in range(count)]
    popped(call, key, values, left, count, log)
    return elements  # type: ignore[return-value]  # there are as many


def pop_first(call: Call, key: bytes, values: QuickList, left: bool, count: int) -> list[bytes]:
    """Do pop_many on the first of several keys that has elements: that key is logged."""
    log = (b"LPOP" if left else b"RPOP", key, b"%d" % min(count, len(values)))
    return pop_many(call, key, values, left, count, log)


def popped(
    call: Call,
    key: bytes,
    values: QuickList,
    left: bool,
    count: int,
    log: Sequence[bytes] | None = None,
) -> None:
    """Tell of *count* popped elements; delete the list if it is empty now."""
    call.db.changed(key, b"lpop" if left else b"rpop", changes=count, log=log)
    delete_if_empty(call, key, values)


def delete_if_empty(call: Call, key: bytes, values: QuickList) -> None:
    if not len(values):
        call.db.remove(key)
        call.db.changed(key, b"del", changes=0)


def move(
    call: Call,
    source: bytes,
    target: bytes,
    from_left: bool,
    to_left: bool,
    log: Sequence[bytes] | None = None,
) -> bytes | None:
    """Move one element between two lists, or within one; None if *source* does not exist.

    That is one change. Raises WrongType, before anything is changed.
    """
    values = find_list(call, source)
    if values is None:
        return None
    call.db.find(target, QuickList)
    element = values.pop_left() if from_left else values.pop_right()
    assert element is not None
    if source == target:
        if to_left:
            values.push_left(element)
        else:
            values.push_right(element)
        # It wakes no client, as the list has been there all the time, and is no longer.
        call.db.changed(source, b"lpush" if to_left else b"rpush")
        call.db.changed(source, b"lpop" if from_left else b"rpop", changes=0, log=log)
        return element
    push(call, target, [element], 0, to_left)
    popped(call, source, values, from_left, 0, log)
    return element


def move_many(
    call: Call,
    source: bytes,
    target: bytes,
    from_left: bool,
    to_left: bool,
    count: int,
    in_bulk: bool,
) -> list[bytes]:
    """Move *count* elements, or all, from *source*, a list, to *target*. O(count).

    *in_bulk*: as a block, which keeps its order; else one after the other. They are returned as
    they lie in *target*. That is as many changes, logged as commands that every replica knows.
    Raises WrongType, before anything is changed.
    """
    db = call.db
    values = find_list(call, source)
    assert values is not None
    into = find_list(call, target)
    count = min(count, len(values))
    stays = source == target and from_left == to_left  # what is taken comes back to its place
    if stays and not in_bulk:
        first = values.get(0 if from_left else -1)
        assert first is not None
        moved = [first] * count
    else:
        moved = _taken(values, from_left, count)
        if (in_bulk and not from_left) or (to_left and not in_bulk):
            moved.reverse()  # into the order in which they lie in the target
        fresh = into is None
        if into is None:
            into = new_quicklist(call.server.node_limits.list_size)
        _put(into, moved, to_left)
        if fresh:
            db.add(target, into)
        elif source != target:
            tell_longer(call, target)
    pushed: Sequence[bytes] = NOTHING
    popped_: Sequence[bytes] = NOTHING
    if call.is_logged and not stays:
        words = moved[::-1] if to_left else moved
        pushed = [b"LPUSH" if to_left else b"RPUSH", target, *words]
        popped_ = [b"LPOP" if from_left else b"RPOP", source, b"%d" % count]
    db.changed(target, b"lpush" if to_left else b"rpush", changes=count, log=pushed)
    popped(call, source, values, from_left, 0, popped_)
    return moved


def _taken(values: QuickList, left: bool, count: int) -> list[bytes]:
    """*count* elements off one end, in the order in which they are taken."""
    taken: list[bytes] = []
    for _ in range(count):
        element = values.pop_left() if left else values.pop_right()
        assert element is not None
        taken.append(element)
    return taken


def _put(values: QuickList, block: list[bytes], left: bool) -> None:
    """Put *block* before the first element, or after the last one; it keeps its order."""
    if left:
        for at in range(len(block) - 1, -1, -1):
            values.push_left(block[at])
    else:
        for element in block:
            values.push_right(element)


# ---------------------------------------------------------------------- arguments


def take_end(args: Args) -> bool:
    """Take LEFT or RIGHT. True for LEFT. Raises SYNTAX."""
    word = args.take_word(LEFT, RIGHT)
    if word is None:
        raise errors.SYNTAX
    return word == LEFT


def first_with_elements(call: Call, keys: list[bytes]) -> tuple[bytes, QuickList] | None:
    """The first of *keys*, in their order, that holds a list. Raises WrongType on the way."""
    for key in keys:
        values = find_list(call, key)
        if values is not None:
            return key, values
    return None


# ---------------------------------------------------------------------- replies


def write_range(out: Encoder, values: QuickList, start: int, stop: int) -> None:
    """Write the elements from index *start* to *stop* (from the end if negative) as an array.

    They are copied straight from the listpacks that hold them.
    """
    first, count = values.bounds(start, stop)
    out.array(count)
    walk: QuickListIterator = values.iterate(first)
    while count > 0 and walk.next_run():
        if walk.plain is not None:
            out.bulk(walk.plain)
            count -= 1
        elif walk.pack is not None:
            count -= packed_reply.write_elements(out, walk.pack, walk.at, count)
