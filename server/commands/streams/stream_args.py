"""The arguments of the stream commands: IDs, bounds of ranges, options of groups and of trims.

Many commands take an id without its seq. The seq is then 0, or the greatest for the end of a range.
``-`` and ``+`` are ids in ranges and for XGROUP SETID only.
"""

from __future__ import annotations

from protocol.replies import ErrorReply
from server.dispatch.call import Call
from server.table import errors
from server.table.args import Args
from storage.stream import stream_id
from storage.stream.consumer_group import UNKNOWN
from storage.stream.stream import Stream, StreamConfig
from storage.stream.stream_id import MAX, U64_MAX, ZERO, StreamId

BAD_START = ErrorReply("ERR", "invalid start ID for the interval")
BAD_END = ErrorReply("ERR", "invalid end ID for the interval")
MAXLEN_NEGATIVE = ErrorReply("ERR", "The MAXLEN argument must be >= 0.")
LIMIT_NEGATIVE = ErrorReply("ERR", "The LIMIT argument must be >= 0.")
TWO_STRATEGIES = ErrorReply(
    "ERR", "syntax error, MAXLEN and MINID options at the same time are not compatible"
)
LIMIT_WITHOUT_STRATEGY = ErrorReply(
    "ERR", "syntax error, LIMIT cannot be used without specifying a trimming strategy"
)
LIMIT_WHEN_EXACT = ErrorReply(
    "ERR", "syntax error, LIMIT cannot be used without the special ~ option"
)

BAD_ENTRIES_READ = ErrorReply("ERR", "value for ENTRIESREAD must be positive or -1")

MAXLEN, MINID = b"MAXLEN", b"MINID"
NO_LIMIT = -1  # LIMIT was not given

# ---------------------------------------------------------------------- ids


def entry_ids(argv: list[bytes], at: int) -> list[StreamId]:
    """The ids ``argv[at:]``. Raises BadStreamId."""
    return [stream_id.parse_id(argv[index]) for index in range(at, len(argv))]


def wanted_id(argv: list[bytes], id_at: int) -> StreamId | None:
    """The id that XADD is given: None for ``*``, seq 0 for ``ms-*``.

    Raises BadStreamId.
    """
    if id_at >= len(argv) or argv[id_at] == b"*":
        return None
    ms = stream_id.parse_auto_seq(argv[id_at])
    return stream_id.parse_id(argv[id_at]) if ms is None else stream_id.make_id(ms, 0)


def loose_id(text: bytes, missing_seq: int = 0) -> StreamId:
    """An id where ``-`` and ``+`` are the smallest and the greatest. Raises BadStreamId."""
    if text == b"-":
        return ZERO
    return MAX if text == b"+" else stream_id.parse_id(text, missing_seq)


def range_start(text: bytes) -> StreamId:
    """The first id of a range; ``(`` before an id leaves it out. Raises BadStreamId, BAD_START."""
    if not text.startswith(b"(") or len(text) == 1:
        return loose_id(text)
    bound = stream_id.parse_id(text[1:])
    if bound == MAX:
        raise BAD_START
    return bound.next()


def range_end(text: bytes) -> StreamId:
    """The last id of a range; ``(`` before an id leaves it out. Raises BadStreamId, BAD_END."""
    if not text.startswith(b"(") or len(text) == 1:
        return loose_id(text, U64_MAX)
    bound = stream_id.parse_id(text[1:], U64_MAX)
    if bound == ZERO:
        raise BAD_END
    return bound.prev()


# ---------------------------------------------------------------------- groups


class GroupOptions:
    """The options of XGROUP CREATE and SETID."""

    __slots__ = ("entries_read", "make_stream")

    make_stream: bool
    entries_read: int


def group_options(argv: list[bytes], may_make: bool) -> GroupOptions:
    """Read the options ``argv[5:]``; MKSTREAM is one if *may_make*. Raises ErrorReply."""
    options = GroupOptions.__new__(GroupOptions)
    options.make_stream = False
    options.entries_read = UNKNOWN
    args = Args(argv, 5)
    while args.at < len(argv):
        if may_make and args.skip(b"MKSTREAM"):
            options.make_stream = True
        elif args.at + 1 < len(argv) and args.skip(b"ENTRIESREAD"):
            options.entries_read = args.take_int()
            if options.entries_read < UNKNOWN:
                raise BAD_ENTRIES_READ
        else:
            raise errors.bad_subcommand("XGROUP", argv[1])
    return options


# ---------------------------------------------------------------------- trimming


class Trim:
    """How XADD and XTRIM shall trim: ``<MAXLEN | MINID> [= | ~] threshold [LIMIT count]``."""

    __slots__ = ("approximate", "limit", "maxlen", "minid", "strategy")

    def __init__(self) -> None:
        self.strategy = b""  # MAXLEN, MINID, or nothing
        self.approximate = False
        self.maxlen = 0
        self.minid = ZERO
        self.limit = NO_LIMIT

    def take(self, args: Args) -> bool:
        """Take an option and its values. False if no option is next. Raises ErrorReply."""
        if args.at + 2 > len(args.argv):
            return False  # without a value it is not an option
        if args.skip(MAXLEN):
            self._take_threshold(MAXLEN, args)
        elif args.skip(MINID):
            self._take_threshold(MINID, args)
        elif args.skip(b"LIMIT"):
            self.limit = args.take_int()
            if self.limit < 0:
                raise LIMIT_NEGATIVE
        else:
            return False
        return True

    def _take_threshold(self, strategy: bytes, args: Args) -> None:
        if self.strategy:
            raise TWO_STRATEGIES
        if args.at + 1 < len(args.argv):
            self.approximate = args.skip(b"~")
            if not self.approximate:
                args.skip(b"=")
        if strategy == MAXLEN:
            self.maxlen = args.take_int()
            if self.maxlen < 0:
                raise MAXLEN_NEGATIVE
        else:
            self.minid = stream_id.parse_id(args.take())
        self.strategy = strategy

    def check(self) -> None:
        """Raise ErrorReply if the options contradict each other."""
        if self.limit > 0 and not self.strategy:
            raise LIMIT_WITHOUT_STRATEGY

    def check_limit(self, call: Call) -> None:
        """Raise ErrorReply if there is a LIMIT for an exact trim.

        Redis logs a trim as exact and leaves its LIMIT there: that means nothing when it is loaded.
        """
        if self.limit != NO_LIMIT and not self.approximate:
            if not call.is_replayed:
                raise LIMIT_WHEN_EXACT
            self.limit = NO_LIMIT

    def apply(self, stream: Stream, config: StreamConfig) -> int:
        """Trim *stream*; return how many entries were deleted."""
        limit = self.limit
        if limit == NO_LIMIT:
            limit = config.trim_limit() if self.approximate else 0
        if self.strategy == MAXLEN:
            return stream.trim_by_length(self.maxlen, self.approximate, limit)
        return stream.trim_by_id(self.minid, self.approximate, limit)

    def as_exact(self, stream: Stream) -> list[bytes]:
        """The words of an exact trim that does to a copy of the stream what was done to it."""
        if self.strategy == MAXLEN:
            threshold = b"%d" % (stream.length if self.approximate else self.maxlen)
        else:
            kept_from = stream.first_id if stream.length else MAX
            threshold = (kept_from if self.approximate else self.minid).encode()
        return [self.strategy, b"=", threshold]
