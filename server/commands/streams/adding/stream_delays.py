"""XADD with DELAY or AT: the entry is scheduled, and added when it is due.

It is logged with AT and the id that it has got in the schedule, so every copy has the same ids. The
schedule is side data of the key: storage/side_data/schedule.py. Who adds the entries:
server/lifecycle/due_entries.py.
"""

from __future__ import annotations

from protocol.replies import ErrorReply
from server.commands.streams.adding.add_options import AT, AddOptions, Delay
from server.dispatch.call import Call
from server.table import errors
from storage.errors import TooLarge
from storage.side_data.schedule import MOST_NUMBERS, SCHEDULE, Schedule, packed
from storage.side_data.side_data import SideData
from storage.stream import stream_id, stream_node
from storage.stream.stream import Stream
from storage.stream.stream_id import StreamId

_SCHEDULE = SCHEDULE  # as a C variable
WITH_AN_ID = ErrorReply(
    "ERR", "DELAY and AT take no ID but *: the entry gets that of the moment when it is due"
)
NO_NUMBERS = ErrorReply("ERR", "the schedule of this stream has no numbers left")


def check_fields(words: list[bytes], at: int, name: str) -> None:
    """Raise what XADD would for the fields ``words[at:]``, of the command *name*."""
    count = len(words) - at
    if count < 2 or count % 2:
        raise errors.wrong_arity(name)
    if not stream_node.fits_alone(words, at):
        raise TooLarge


def add_later(call: Call, options: AddOptions, delay: Delay) -> bytes | None:
    """Schedule the entry; answer its id in the schedule. *delay* is that of *options*. O(log N).

    The answer is None if there is no stream and none may be made.
    """
    argv, key, id_at, expire_ms = call.argv, call.argv[1], options.id_at, options.expire_ms
    if id_at >= len(argv):
        raise errors.wrong_arity("xadd")
    if argv[id_at] != b"*":
        stream_id.parse_id(argv[id_at].removesuffix(b"-*"))
        raise WITH_AN_ID
    check_fields(argv, id_at + 1, "xadd")
    schedule = schedule_for(call, key, options.may_create)
    if schedule is None:
        return None
    if schedule.last >= MOST_NUMBERS and not delay.number:
        raise NO_NUMBERS
    entry_id: StreamId = schedule.add(
        delay.due_ms, packed(argv, id_at + 1, expire_ms), delay.number
    )
    text: bytes = entry_id.encode()
    changed(call, key, schedule)
    expires = (b"EXPIRE", b"%d" % expire_ms) if expire_ms else ()
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
        call.db.put_side(key, side, of_groups=False)
    return schedule


def changed(call: Call, key: bytes, schedule: Schedule) -> None:
    """*schedule* has changed, which is that of *key*; it is forgotten if nothing is in it."""
    side = call.db.side_of(key)
    if side is not None and schedule.is_nothing():
        side.discard(_SCHEDULE)
        call.db.put_side(key, side, of_groups=False)
    else:
        call.server.agenda.note(call.db.index, key)
