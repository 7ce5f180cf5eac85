"""The options of XADD: what stands between the key and the id of the entry."""

from __future__ import annotations

from protocol.replies import ErrorReply
from server.commands.streams import stream_args
from server.commands.streams.stream_args import Trim
from server.dispatch.call import Call
from server.table.args import Args, to_int
from storage import octets
from storage.side_data.schedule import LATEST_MS, MOST_NUMBERS
from storage.stream import stream_id
from storage.stream.stream_id import StreamId

_LATEST_MS = LATEST_MS  # as a C number
DELAY, AT = b"DELAY", b"AT"
BAD_EXPIRE = ErrorReply("ERR", f"EXPIRE takes milliseconds from 1 to {LATEST_MS}")
BAD_TIME = ErrorReply("ERR", f"DELAY and AT take milliseconds, of a time from 0 to {LATEST_MS}")
DELAY_TWICE = ErrorReply("ERR", "syntax error, DELAY or AT specified multiple times")
IDMP_TWICE = ErrorReply("ERR", "syntax error, IDMP/IDMPAUTO specified multiple times")
NO_PRODUCER_AUTO = ErrorReply("ERR", "syntax error, IDMPAUTO requires a non-empty producer ID")
NO_PRODUCER = ErrorReply("ERR", "syntax error, IDMP requires a non-empty producer ID")
NO_NAME = ErrorReply("ERR", "syntax error, IDMP requires a non-empty idempotent ID")
WITH_AN_ID = ErrorReply(
    "ERR", "syntax error, IDMP/IDMPAUTO can be used only with auto-generated IDs"
)


class AddOptions:
    """What an XADD says of its entry besides the fields. read_add_options() makes one."""

    __slots__ = ("delay", "expire_ms", "id_at", "last", "may_create", "once", "trim", "wanted")

    id_at: int  # where the id is in argv; the fields follow
    wanted: StreamId | None  # that id, with seq 0 for ``ms-*``; None for ``*``
    may_create: bool  # whether a stream is made if there is none
    last: StreamId | None  # the id that the stream must end with; None: any
    trim: Trim | None
    once: Once | None
    delay: Delay | None
    expire_ms: int  # how long the entry stays; 0: for ever

    def read(self, call: Call) -> None:
        """Read the options in argv: see read_add_options()."""
        self.may_create = True
        self.wanted = self.last = None
        self.trim = self.once = self.delay = None
        self.expire_ms = 0
        trim, args = Trim(), Args(call.argv, 2)
        unlogged: list[int] = []
        while args.left() and args.argv[args.at] != b"*":
            if not trim.take(args) and not self._take(call, args, unlogged):
                break
        self.id_at = args.at - 2 * len(unlogged)
        if unlogged:
            call.argv = _without(call.argv, unlogged)
        if self.delay is not None:
            self._check_delayed(trim)
            return
        self.wanted = stream_args.wanted_id(call.argv, self.id_at)
        if self.once is not None:
            self.once.check(call, self.wanted)
        trim.check()
        trim.check_limit(call)
        self.trim = trim if trim.strategy or trim.policy != -1 else None

    def _take(self, call: Call, args: Args, unlogged: list[int]) -> bool:
        """Take an option but that of a trim, and its values. False if none is next.

        Raises ErrorReply. To *unlogged* comes where words begin that are not logged: the condition
        held, and the time at which the entry expires is told by another command.
        """
        if _is_once(args):
            if self.once is None:
                self.once = Once()
            return self.once.take(args)
        if args.left() > 1 and args.skip(b"IFLAST"):
            unlogged.append(args.at - 1)
            self.last = stream_id.parse_id(args.take())
        elif args.skip(b"NOMKSTREAM"):
            self.may_create = False
        elif not self.expire_ms and args.left() > 1 and args.skip(b"EXPIRE"):
            unlogged.append(args.at - 1)
            self.expire_ms = expiry_of(args.take())
        elif _is_delay(args):
            if self.delay is not None:
                raise DELAY_TWICE
            self.delay = Delay(call, args)
        else:
            return False
        return True

    def _check_delayed(self, trim: Trim) -> None:
        """Raise ErrorReply if an option says nothing of an entry that is added later."""
        if self.last is not None:
            raise _refuse(b"IFLAST")
        if self.once is not None and self.once.words:
            raise _refuse(self.once.words[0].upper())
        if trim.strategy:
            raise _refuse(trim.strategy)
        if trim.limit >= 0:
            raise _refuse(b"LIMIT")
        if trim.policy != -1:
            raise _refuse(stream_args.POLICIES[trim.policy])


def read_add_options(call: Call) -> AddOptions:
    """Read the options of an XADD, and take out of argv what is not logged. Raises ErrorReply."""
    made = AddOptions.__new__(AddOptions)
    made.read(call)
    return made


def _without(argv: list[bytes], places: list[int]) -> list[bytes]:
    """*argv* without two words at each of *places*, which grow."""
    left = argv[:]
    for at in reversed(places):
        del left[at : at + 2]
    return left


def _refuse(word: bytes) -> ErrorReply:
    return ErrorReply("ERR", f"{word.decode()} cannot be used with DELAY or AT")


def expiry_of(text: bytes) -> int:
    """The value of EXPIRE: ms. Raises ErrorReply."""
    expire_ms = octets.short_number(text)  # as to_int() begins, without a call
    if expire_ms < 1:
        expire_ms = to_int(text, BAD_EXPIRE)
    if not 1 <= expire_ms <= _LATEST_MS:
        raise BAD_EXPIRE
    return expire_ms


def _is_once(args: Args) -> bool:
    """Whether IDMP or IDMPAUTO is the next word, whatever follows."""
    word = args.argv[args.at]
    return octets.same_letters(word, b"IDMP") or octets.same_letters(word, b"IDMPAUTO")


class Once:
    """The options of XADD: ``[IDMPAUTO producer | IDMP producer name]``."""

    __slots__ = ("name", "producer", "words")

    def __init__(self) -> None:
        self.words: list[bytes] = []  # those taken; none if neither option is given
        self.producer = b""
        self.name = b""  # of the entry; empty for IDMPAUTO

    def take(self, args: Args) -> bool:
        """Take an option and its values. False if none is next. Raises ErrorReply."""
        at = args.at
        if args.at + 1 < len(args.argv) and args.skip(b"IDMPAUTO"):
            self._check_once()
            self.producer = args.take()
            if not self.producer:
                raise NO_PRODUCER_AUTO
        elif args.at + 2 < len(args.argv) and args.skip(b"IDMP"):
            self._check_once()
            self.producer = args.take()
            self.name = args.take()
            if not self.producer:
                raise NO_PRODUCER
            if not self.name:
                raise NO_NAME
        else:
            return False
        self.words = args.argv[at : args.at]
        return True

    def _check_once(self) -> None:
        if self.words:
            raise IDMP_TWICE

    def check(self, call: Call, wanted: StreamId | None) -> None:
        """Raise ErrorReply if the client itself gives the entry an id."""
        if self.words and wanted is not None and not call.is_replayed():
            raise WITH_AN_ID


def _is_delay(args: Args) -> bool:
    """Whether DELAY or AT is the next word, whatever follows."""
    word = args.argv[args.at]
    return octets.same_letters(word, DELAY) or octets.same_letters(word, AT)


class Delay:
    """When XADD shall add its entry: ``[DELAY ms | AT unix-ms]``."""

    __slots__ = ("due_ms", "number")

    def __init__(self, call: Call, args: Args) -> None:
        """Take the option, which must be next. Raises ErrorReply."""
        self.number = 0  # the next one
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
