"""XADD with DELAY or AT: the entry is scheduled, and added when it is due.

It is logged with AT and the id that it has got in the schedule, so every copy has the same ids. The
schedule is side data of the key: storage/side_data/schedule.py. Who adds the entries:
server/lifecycle/due_entries.py.
"""

from __future__ import annotations

from protocol.replies import ErrorReply
from server.dispatch.call import Call
from server.table import errors
from server.table.args import Args, to_int
from storage.errors import TooLarge
from storage.side_data.schedule import LATEST_MS, MOST_NUMBERS, SCHEDULE, Schedule, packed
from storage.side_data.side_data import SideData
from storage.stream import stream_id
from storage.stream.stream import MAX_ENTRY_SIZE, Stream
from storage.stream.stream_id import StreamId

_SCHEDULE = SCHEDULE  # as a C variable
DELAY, AT = b"DELAY", b"AT"
BAD_TIME = ErrorReply("ERR", f"DELAY and AT take milliseconds, of a time from 0 to {LATEST_MS}")
TWICE = ErrorReply("ERR", "syntax error, DELAY or AT specified multiple times")
WITH_AN_ID = ErrorReply(
    "ERR", "DELAY and AT take no ID but *: the entry gets that of the moment when it is due"
)
NO_NUMBERS = ErrorReply("ERR", "the schedule of this stream has no numbers left")


class Delay:
    """When XADD shall add its entry: ``[DELAY ms | AT unix-ms]``."""

    __slots__ = ("due_ms", "expire_ms", "number")

    def __init__(self, call: Call, args: Args) -> None:
        """Take the option, which must be next. Raises ErrorReply."""
        self.number = 0  # the next one
        self.expire_ms = 0  # after it is due; never
        if args.skip(DELAY):
            self.due_ms = call.now_ms + _checked(args.take())
        else:
            args.skip(AT)
            text = args.take()
            if call.is_replayed() and b"-" in text:
                given = stream_id.parse_id(text)
                self.due_ms, self.number = given.ms, given.seq
            else:
                self.due_ms = max(_checked(text), call.now_ms)
        if self.due_ms > LATEST_MS or self.number > MOST_NUMBERS:
            raise BAD_TIME


def _checked(text: bytes) -> int:
    ms = to_int(text, BAD_TIME)
    if not 0 <= ms <= LATEST_MS:
        raise BAD_TIME
    return ms


def refuse(word: bytes) -> ErrorReply:
    """The error of an option that says nothing of an entry that is added later."""
    return ErrorReply("ERR", f"{word.decode()} cannot be used with DELAY or AT")


def check_fields(words: list[bytes], at: int, name: str) -> None:
    """Raise what XADD would for the fields ``words[at:]``, of the command *name*."""
    count = len(words) - at
    if count < 2 or count % 2:
        raise errors.wrong_arity(name)
    if sum(map(len, words[at:])) > MAX_ENTRY_SIZE:
        raise TooLarge


def add_later(call: Call, delay: Delay, id_at: int, may_create: bool) -> bytes | None:
    """Schedule the entry ``argv[id_at + 1:]``; answer its id in the schedule. O(log N).

    The answer is None if there is no stream and none may be made.
    """
    argv, key = call.argv, call.argv[1]
    if id_at >= len(argv):
        raise errors.wrong_arity("xadd")
    if argv[id_at] != b"*":
        stream_id.parse_id(argv[id_at].removesuffix(b"-*"))
        raise WITH_AN_ID
    check_fields(argv, id_at + 1, "xadd")
    schedule = schedule_for(call, key, may_create)
    if schedule is None:
        return None
    if schedule.last >= MOST_NUMBERS and not delay.number:
        raise NO_NUMBERS
    entry_id: StreamId = schedule.add(
        delay.due_ms, packed(argv, id_at + 1, delay.expire_ms), delay.number
    )
    text: bytes = entry_id.encode()
    changed(call, key, schedule)
    expires = (b"EXPIRE", b"%d" % delay.expire_ms) if delay.expire_ms else ()
    log = (argv[0], key, AT, text, *expires, *argv[id_at:])
    call.db.group_changed(key, b"xschedule", changes=1, log=log)
    return text


def schedule_of(call: Call, key: bytes) -> Schedule | None:
    """The schedule of *key*, if it has one."""
    side = call.db.side_of(key)
    schedule: Schedule | None = None if side is None else side.get(_SCHEDULE)
    return schedule


def schedule_for(call: Call, key: bytes, may_create: bool = True) -> Schedule | None:
    """The schedule of the stream at *key*; both are made if needed, and *may_create*.

    Raises WrongType.
    """
    if call.db.find(key, Stream) is None:
        if not may_create:
            return None
        call.db.add(key, Stream())
    return schedule_beside(call, key)


def schedule_beside(call: Call, key: bytes) -> Schedule:
    """The schedule of *key*, where a stream is; it is made if needed."""
    side = call.db.side_of(key)
    if side is None:
        side = SideData()
    schedule: Schedule | None = side.get(_SCHEDULE)
    if schedule is None:
        schedule = Schedule()
        side.set(_SCHEDULE, schedule)
        call.db.put_side(key, side)
    return schedule


def changed(call: Call, key: bytes, schedule: Schedule) -> None:
    """*schedule* has changed, which is that of *key*; it is forgotten if nothing is in it."""
    side = call.db.side_of(key)
    if side is not None and schedule.is_nothing():
        side.discard(_SCHEDULE)
        call.db.put_side(key, side)
    else:
        call.server.agenda.note(call.db.index, key)
