"""XREAD MATCH and XREADGROUP MATCH: the streams are those whose keys match patterns."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable

from protocol.encoder import Encoder
from protocol.replies import NULL_ARRAY, Reply
from server.client.client import RESTRICTED
from server.commands.streams.reading import group_serving, stream_serving
from server.commands.streams.reading.delivery import Delivery
from server.commands.streams.reading.stream_request import Request
from server.commands.streams.reading.stream_serving import LAST
from server.dispatch.call import Call
from server.parts.due_keys import NEVER
from server.parts.waiting.pattern_reads import Readers
from server.table.command import NO_CLAIM, Block, new_block
from server.table.keys import READ, WRITE
from storage.stream import stream_id
from storage.stream.stream import Stream
from storage.stream.stream_id import ZERO, StreamId

_NO_CLAIM, _NEVER = NO_CLAIM, NEVER  # as C numbers
ENOUGH = 500  # entries of a reply without MAXCOUNT: then no other stream is looked at
MANY = 1000  # streams that one call has seen: then it forgets those that have gone
LOOKS = 500  # streams that one call looks at in vain, before others have their turn


class Look:
    """What an XREAD MATCH that waits has seen: the ids after which it goes on, by key.

    Of other streams it reads what follows *after*. *last* is the last of the readers' changes that
    it knows.
    """

    __slots__ = ("_later", "_most_seen", "_todo", "after", "last", "seen")

    def __init__(self, after: StreamId, last: int, todo: Iterable[bytes]) -> None:
        self.after = after
        self.last = last
        self.seen: dict[bytes, StreamId] = {}
        self._most_seen = MANY  # with more, those that have gone are forgotten
        self._todo = list(todo)[::-1]  # the keys that it looks at, the last one first
        self._later: dict[bytes, None] = {}  # and those after them, in this order

    def forget_gone(self, keys: Container[bytes]) -> None:
        """Forget streams that are none of *keys*, when those are many. O(1), amortized."""
        if len(self.seen) > self._most_seen:
            self.seen = {key: seen for key, seen in self.seen.items() if key in keys}
            self._most_seen = MANY + 2 * len(self.seen)

    def add(self, key: bytes) -> None:
        """Let *key* be looked at after the others."""
        self._later[key] = None

    def is_over(self) -> bool:
        """Whether all keys were looked at."""
        return not self._todo and not self._later

    def next_key(self) -> bytes:
        """The key to look at now; there must be one."""
        if not self._todo:
            self._todo = list(self._later)[::-1]
            self._later.clear()
        key = self._todo.pop()
        self._later.pop(key, None)  # what has come to it meanwhile is seen now
        return key


def _readers(call: Call, request: Request) -> Readers:
    """Those who read these patterns for this group, as far as their keys are gathered."""
    patterns = call.server.blocking.patterns
    wants = None if request.group is None else _wants(call, request)
    readers: Readers = patterns.readers(call.db, request.patterns or [], request.group, wants)
    if not readers.is_complete:
        readers.gather(call.is_inside(), call.argv[request.ids_at] == b"$")
    return readers


def _wants(call: Call, request: Request) -> Hashable:
    """What decides, besides the consumer, whether a stream of the group has something for it."""
    if group_serving.is_plain(request) and not call.client.flags & RESTRICTED:
        return request.makes_groups
    rights = call.client.user.version if call.client.flags & RESTRICTED else 0
    where = None if request.where is None else request.where.digest()
    return request.makes_groups, request.noack, request.min_idle, where, rights


def _most_looks(call: Call) -> int:
    """At how many streams the call may look in vain. A transaction or script does not wait."""
    return _NEVER if call.is_inside() else LOOKS


def _stream_at(call: Call, readers: Readers, key: bytes) -> Stream | None:
    """The stream at *key*; None, and the name is forgotten, if there is none any more."""
    if type(call.db.peek(key)) is Stream:
        return call.db.read(key, Stream)
    readers.names.forget(key)
    return None


def _wait_for_patterns(
    request: Request,
    readers: Readers,
    reads_on: bool,
    wake_ms: int,
    speaks_for: bytes | None = None,
) -> Reply | Block:
    if request.block_ms is None and not reads_on:
        return NULL_ARRAY
    if request.where is not None:
        request.where.rest()
    return new_block(
        [],
        Stream,
        request.block_ms or 0,
        NULL_ARRAY,
        NULL_ARRAY,
        on_no_key=True,  # whatever becomes of the keys
        wake_ms=wake_ms,
        reads_on=reads_on,
        speaks_for=speaks_for,
        readers=readers,
        resume=request,
        reads_as=request.consumer,
    )


def read_patterns(call: Call, request: Request) -> Reply | Block:
    """XREAD MATCH. O(streams that match) at first, then O(those to which something was added)."""
    readers = _readers(call, request)
    begun = request.look
    if isinstance(begun, Look):
        look = begun
        look.forget_gone(readers.keys)
        for key in readers.since(look.last):
            look.add(key)
        look.last = readers.last
    elif not readers.is_complete:
        return _wait_for_patterns(request, readers, True, NO_CLAIM)
    else:
        look = request.look = _first_look(call, request, readers)
    body = call.client.out.another()
    served = 0
    most = _most_looks(call)
    while most > 0 and not look.is_over() and not request.is_full and not request.goes_on():
        if _look_at(call, request, readers, look, body, look.next_key()):
            served += 1
        else:
            most -= 1
    if served:
        return stream_serving.with_head(body, served)
    reads_on = not look.is_over() or not readers.is_complete
    return _wait_for_patterns(request, readers, reads_on, NO_CLAIM)


def _first_look(call: Call, request: Request, readers: Readers) -> Look:
    """What a new call is to look at. ``$`` becomes the last ids of this moment."""
    text = call.argv[request.ids_at]
    if text not in (b"$", LAST):
        return Look(stream_serving.last_seen(None, text), readers.last, readers.keys)
    if text == LAST:
        return Look(ZERO, readers.last, readers.keys)
    look = Look(ZERO, readers.last, ())
    if request.block_ms is not None and not call.is_inside():
        for key in list(readers.keys):  # one that has expired goes when it is looked at
            stream = call.db.peek(key)
            if type(stream) is Stream:
                look.seen[key] = stream.last_id
    return look


def _look_at(
    call: Call, request: Request, readers: Readers, look: Look, body: Encoder, key: bytes
) -> bool:
    """Write what *key* has for the reader. False if that is nothing."""
    if not call.may_use(key, READ):
        return False
    stream = _stream_at(call, readers, key)
    if stream is None:
        look.seen.pop(key, None)
        return False
    after = look.seen.get(key, look.after)
    if stream_id.compare(stream.last_id, after) < 0:  # it was made again since it was seen
        look.seen.pop(key, None)
        after = look.after
    if call.argv[request.ids_at] == LAST:
        after = stream_serving.last_seen(stream, LAST)
    where = request.where
    if stream_id.compare(stream.last_id, after) <= 0:
        return False
    if stream_serving.write_after(body, key, stream, after, request):
        readers.looked(key, False)
        return True
    if where is not None and where.passed:
        look.seen[key] = stream_id.make_id(where.last_ms, where.last_seq)
    if where is not None and where.is_cut:
        look.add(key)
    return False


def read_groups(call: Call, request: Request) -> Reply | Block:
    """XREADGROUP MATCH. O(streams that may have something).

    After LOOKS streams that became stale, or rest now, others have their turn.
    """
    readers = _readers(call, request)
    if not readers.is_complete:
        return _wait_for_patterns(request, readers, True, NO_CLAIM)
    readers.reads(request.consumer, call.now_ms)
    if group_serving.is_put_off(call, request):
        return _wait_for_patterns(request, readers, True, NO_CLAIM, readers.label)
    most = _most_looks(call)
    is_cut = not readers.come_due(call.now_ms, most)
    if not readers.take_kept(request.consumer, most):
        is_cut = True
    begun = request.look
    left = begun if isinstance(begun, int) else len(readers.fresh) + len(readers.resting)
    body = call.client.out.another()
    served, last = 0, readers.last
    waiting: list[Delivery] = []
    for _ in range(len(readers.fresh)):
        keys = readers.fresh
        if request.is_full or not keys or request.goes_on() or most == 0:
            break
        if request.given >= ENOUGH and not request.max_count:
            break  # the next call begins with the others
        left -= 1
        key, before = next(iter(keys)), len(keys)
        served += _serve_by_pattern(call, request, readers, body, key, waiting)
        # The call goes on with those that are left: what stays fresh is looked at once more then.
        most -= len(keys) < before
        if request.where is not None:
            group_serving.count_looks(call, request.where)
        # Only then there is less to look at in the next turn.
        if len(keys) < before and readers.fresh and group_serving.is_put_off(call, request):
            most = 0
    if served:
        return stream_serving.with_head(body, served)
    request.look = left
    may_go_on = left > 0 or request.block_ms is not None  # others may keep streams fresh for ever
    is_cut = request.goes_on() or (may_go_on and (is_cut or most == 0))
    if request.block_ms is not None and call.client.waiter is None and readers.last != last:
        is_cut = True  # the call itself has changed a stream, and does not stand in a queue yet
    wake_ms = _ms_to_claim(call, readers, waiting)
    if request.where is not None:
        group_serving.count_looks(call, request.where)
    # If it is cut, it looks for all of them, and another goes on when it is answered.
    finds_for_all = is_cut or group_serving.finds_for_all(waiting)
    name = readers.label if finds_for_all else None
    return _wait_for_patterns(request, readers, is_cut, wake_ms, name)


def _serve_by_pattern(
    call: Call,
    request: Request,
    readers: Readers,
    body: Encoder,
    key: bytes,
    waiting: list[Delivery],
) -> bool:
    """Write what *key* has for the consumer; whether that is anything.

    Then it is the last one to look at again, or stale, or rests, or is kept for another consumer.
    To *waiting* comes what may have something later, and does not rest.
    """
    if not call.may_use(key, READ | WRITE if request.makes_groups else READ):
        readers.deny(key)
        return False
    delivery = _delivery_by_pattern(call, request, readers, key)
    if delivery is None:
        readers.looked(key, True)
        return False
    is_served = group_serving.serve(call, request, body, delivery)
    active = group_serving.active_of(delivery)
    if active is not None:
        readers.keep(key, active, _after(call, delivery.turn_ms))
        call.server.blocking.kept(readers)
        return False
    if not is_served and group_serving.rests(request, delivery):
        readers.rest(key, _after(call, group_serving.ms_to_rest(call, delivery)))
        return False
    stream, group = delivery.stream, delivery.group
    is_read = stream.length == 0 or stream_id.compare(stream.last_id, group.last_id) <= 0
    stays = delivery.policy is not None or delivery.min_idle != _NO_CLAIM
    readers.looked(key, is_read and not stays)
    if delivery.is_more or stays:
        waiting.append(delivery)
    return is_served


def _after(call: Call, wait_ms: int) -> int:
    """The moment after so many ms, in unix ms; 0 or less: it never comes.

    A wait may be as long as times in a loaded file say.
    """
    return min(call.now_ms + wait_ms, NEVER) if wait_ms > 0 else NEVER


def _ms_to_claim(call: Call, readers: Readers, waiting: list[Delivery]) -> int:
    """As group_serving.ms_to_claim(), for *waiting* and for the streams that rest."""
    wake_ms: int = group_serving.ms_to_claim(call, waiting)
    if wake_ms == _NO_CLAIM and len(readers.resting):
        wake_ms = 0
    first_ms = readers.resting.first_ms()
    if first_ms < _NEVER:
        due_ms = max(1, first_ms - call.now_ms)
        wake_ms = due_ms if wake_ms <= 0 else min(wake_ms, due_ms)
    return wake_ms


def _delivery_by_pattern(
    call: Call, request: Request, readers: Readers, key: bytes
) -> Delivery | None:
    """What is wanted from the stream at *key*; None if it has not the group, or is no stream.

    With MKGROUP the group is made, before the first entry.
    """
    stream = _stream_at(call, readers, key)
    name = request.group
    assert name is not None
    if stream is None:
        return None
    if stream.find_group(name) is None:
        if not request.makes_groups:
            return None
        stream.create_group(name, ZERO)
        log = (b"XGROUP", b"CREATE", key, name, b"0")
        call.db.group_changed(key, b"xgroup-create", changes=1, log=log)
        call.server.blocking.readable(call.db.index, key)  # for those who make no groups
    return group_serving.delivery_of(call, request, key, b">")
