"""The arguments of the stream commands: IDs, bounds of ranges, options of groups and of trims.

Many commands take an id without its seq. The seq is then 0, or the greatest for the end of a range.
``-`` and ``+`` are ids in ranges and for XGROUP SETID only.
"""

from __future__ import annotations

from protocol.replies import ErrorReply
from server.dispatch.call import Call
from server.table import errors
from server.table.args import Args
from storage import octets
from storage.stream import deletions, stream_id
from storage.stream.consumer_group import UNKNOWN
from storage.stream.deletions import Done, ReferencedTrim
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

IDS_NOT_POSITIVE = ErrorReply("ERR", "Number of IDs must be a positive integer")
IDS_TOO_FEW = ErrorReply("ERR", "The `numids` parameter must match the number of arguments")

MOST_OF_CREATE = 8  # words of XGROUP CREATE: none of its options can be said twice
MAXLEN, MINID = b"MAXLEN", b"MINID"
POLICIES = (b"KEEPREF", b"DELREF", b"ACKED")  # each at the index that storage has for it; and
# each is one letter shorter than the one before
NOT_GIVEN = -1  # LIMIT was not given
_KEEPREF = deletions.KEEPREF  # as a C number

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


# ---------------------------------------------------------------------- deleting


def reference_policy(word: bytes) -> int:
    """The number of KEEPREF, DELREF or ACKED, as storage/stream/deletions.py has it; else -1."""
    policy = len(POLICIES[0]) - len(word)
    return policy if 0 <= policy <= 2 and octets.same_letters(word, POLICIES[policy]) else -1


class Doomed:
    """Which entries XDELEX and XACKDEL shall delete, and how. read_doomed() makes one.

    ``[KEEPREF | DELREF | ACKED] IDS numids id [id ...]``, in any order. The ids are counted when
    this is read, and read when ids() is called.
    """

    __slots__ = ("_argv", "_ids_at", "count", "policy")

    _argv: list[bytes]
    _ids_at: int
    count: int
    policy: int

    def read(self, argv: list[bytes], at: int) -> None:
        """Read the options ``argv[at:]``: see read_doomed()."""
        self._argv = argv
        self._ids_at = 0
        self.count = 0
        self.policy = -1
        args = Args(argv, at)
        while args.at < len(argv):
            if args.skip(b"IDS"):
                self.count = args.take_positive(IDS_NOT_POSITIVE)
                self._ids_at = args.at
                if self.count > len(argv) - args.at:
                    raise IDS_TOO_FEW
                args.at += self.count
                continue
            policy = reference_policy(args.take())
            if policy == -1 or self.policy != -1:
                raise errors.SYNTAX
            self.policy = policy
        self.policy = max(self.policy, _KEEPREF)

    def ids(self) -> list[StreamId]:
        """The ids. Raises BadStreamId."""
        end = self._ids_at + self.count
        return entry_ids(self._argv if end == len(self._argv) else self._argv[:end], self._ids_at)


def read_doomed(argv: list[bytes], at: int) -> Doomed:
    """Read the options ``argv[at:]``. Raises ErrorReply."""
    made = Doomed.__new__(Doomed)
    made.read(argv, at)
    return made


# ---------------------------------------------------------------------- groups


class GroupOptions:
    """The options of XGROUP CREATE and SETID."""

    __slots__ = ("clears", "entries_read", "make_stream")

    clears: bool  # the pending entries
    make_stream: bool
    entries_read: int


def group_options(argv: list[bytes], may_make: bool) -> GroupOptions:
    """Read the options ``argv[5:]``: MKSTREAM if *may_make*, else CLEAR. Raises ErrorReply."""
    options = GroupOptions.__new__(GroupOptions)
    options.clears = False
    options.make_stream = False
    options.entries_read = UNKNOWN
    args = Args(argv, 5)
    if may_make and len(argv) > MOST_OF_CREATE:
        raise errors.bad_subcommand("XGROUP", argv[1])
    while args.at < len(argv):
        if may_make and args.skip(b"MKSTREAM"):
            options.make_stream = True
        elif not may_make and args.skip(b"CLEAR"):
            options.clears = True
        elif args.at + 1 < len(argv) and args.skip(b"ENTRIESREAD"):
            options.entries_read = args.take_int()
            if options.entries_read < UNKNOWN:
                raise BAD_ENTRIES_READ
        else:
            raise errors.bad_subcommand("XGROUP", argv[1])
    return options


# ---------------------------------------------------------------------- trimming


class Trim:
    """How XADD and XTRIM shall trim: ``<MAXLEN | MINID> [= | ~] threshold [LIMIT count]``.

    With a policy (DELREF, ACKED) ``~`` means no more than that there is a limit.
    """

    __slots__ = (
        "_keeps", "_upto", "approximate", "done", "limit", "maxlen", "minid", "policy", "strategy",
    )  # fmt: skip

    def __init__(self) -> None:
        self.strategy = b""  # MAXLEN, MINID, or nothing
        self.approximate = False
        self.maxlen = 0
        self.minid = ZERO
        self.limit = NOT_GIVEN
        self.policy = -1  # none was given
        self.done: Done | None = None  # what apply() notes for the log, if it is logged
        self._upto = MAX  # with a policy: all entries were looked at that are less
        self._keeps = False  # with a policy: some of them were left

    def take(self, args: Args) -> bool:
        """Take an option and its values. False if no option is next. Raises ErrorReply."""
        if args.at + 2 <= len(args.argv):  # without a value it is not an option
            if args.skip(MAXLEN):
                self._take_threshold(MAXLEN, args)
                return True
            if args.skip(MINID):
                self._take_threshold(MINID, args)
                return True
            if args.skip(b"LIMIT"):
                self.limit = args.take_int()
                if self.limit < 0:
                    raise LIMIT_NEGATIVE
                return True
        if self.policy != -1:
            return False
        self.policy = reference_policy(args.argv[args.at])
        if self.policy == -1:
            return False
        args.at += 1
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
        if self.limit != NOT_GIVEN and not self.approximate:
            if not call.is_replayed():
                raise LIMIT_WHEN_EXACT
            self.limit = NOT_GIVEN

    def apply(self, stream: Stream, config: StreamConfig) -> int:
        """Trim *stream*, if a strategy was given; return how many entries were deleted."""
        if not self.strategy:
            return 0
        limit = self.limit
        if limit == NOT_GIVEN:
            limit = config.trim_limit() if self.approximate else 0
        if self.drops_references():
            maxlen = self.maxlen if self.strategy == MAXLEN else -1
            minid = self.minid if self.strategy == MINID else MAX
            trim = ReferencedTrim(stream, self.policy, maxlen, minid, limit, self.done)
            deleted = trim.run()
            self._upto = trim.upto
            self._keeps = trim.keeps
            return deleted
        if self.strategy == MAXLEN:
            return stream.trim_by_length(self.maxlen, self.approximate, limit)
        return stream.trim_by_id(self.minid, self.approximate, limit)

    def drops_references(self) -> bool:
        """Whether groups have a say in what is deleted, or lose what they know of it."""
        return self.policy > _KEEPREF

    def is_as_it_was_given(self) -> bool:
        """Whether its words do to a copy of the stream what they did to it, on every server."""
        return not self.approximate and self.policy == -1

    def as_exact(self, stream: Stream) -> list[bytes]:
        """The words of an exact trim that does to a copy of the stream what was done to it.

        There is no policy in them, which only Redis 8.2 knows. If entries were left that are older
        than some that were deleted, this trims up to the first that is left; *done* has the others.
        """
        if self._keeps:
            return [MINID, b"=", stream.first_id.encode()]
        refers = self.drops_references()
        is_met = not self.approximate and not refers  # all that the threshold says is done
        if self.strategy == MAXLEN:
            threshold = b"%d" % (self.maxlen if is_met else stream.length)
        elif is_met or refers:
            threshold = (self._upto if refers else self.minid).encode()
        else:
            threshold = (stream.first_id if stream.length else MAX).encode()
        return [self.strategy, b"=", threshold]
