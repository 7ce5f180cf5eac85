"""The arguments of XREAD and XREADGROUP: options, streams and ids.

XREAD       [COUNT n] [BLOCK ms]                               STREAMS key ... id ...
XREADGROUP  [COUNT n] [BLOCK ms] [CLAIM ms] [NOACK] GROUP group consumer  STREAMS key ... id ...

Both may have MAXCOUNT n, MAXSIZE bytes, PRIORITY (the first stream that has something, only), and
NOFIELDS (ids only), and WHERE field numvalues value ..., of which entries must have one. The values
are counted so that none of them is taken for an option. MATCH pattern ... id stands in place of
STREAMS, its keys and ids; the one id is for all streams, and > in XREADGROUP, which makes the group
where it is missing with MKGROUP. XREADGROUP may have WITHDEADLINE: until when the consumer has each
entry; and WITHFENCE: the number of its turn, if one consumer of the group is active at a time.
"""

from __future__ import annotations

from protocol.replies import ErrorReply
from server.client.origin import WOKEN
from server.dispatch.call import Call
from server.table import errors
from server.table.args import Args, to_timeout_ms
from server.table.command import NO_CLAIM
from storage import octets
from storage.stream.entry_filter import EntryFilter

GROUP_IN_XREAD = ErrorReply(
    "ERR", "The GROUP option is only supported by XREADGROUP. You called XREAD instead."
)
NOACK_IN_XREAD = ErrorReply(
    "ERR", "The NOACK option is only supported by XREADGROUP. You called XREAD instead."
)
CLAIM_IN_XREAD = ErrorReply(
    "ERR", "The CLAIM option is only supported by XREADGROUP. You called XREAD instead."
)
IDLE_NOT_AN_INTEGER = ErrorReply("ERR", "min-idle-time is not an integer or out of range")
IDLE_NEGATIVE = ErrorReply("ERR", "min-idle-time must be a positive integer")
NO_GROUP_OPTION = ErrorReply("ERR", "Missing GROUP option for XREADGROUP")
UNBALANCED = ErrorReply(
    "ERR",
    "Unbalanced 'xread' list of streams: for each stream key an ID, '+', or '$' must be specified.",
)
UNBALANCED_GROUP = ErrorReply(
    "ERR",
    "Unbalanced 'xreadgroup' list of streams: for each stream key an ID or '>' must be specified.",
)
MAX_COUNT_NOT_POSITIVE = ErrorReply("ERR", "MAXCOUNT must be a positive integer")
MAX_SIZE_NOT_POSITIVE = ErrorReply("ERR", "MAXSIZE must be a positive integer")
NEW_ONLY = ErrorReply("ERR", "MATCH of XREADGROUP gives new entries: its ID must be >")
VALUES_NOT_POSITIVE = ErrorReply("ERR", "numvalues must be a positive integer")
MAX_COUNT_BELOW_COUNT = ErrorReply("ERR", "MAXCOUNT must be greater than or equal to COUNT")

MOST_PATTERNS = 100  # of MATCH: each new key of anybody is compared with the patterns of all calls
LONGEST_PATTERN = 1024  # bytes, for the same reason
TOO_MANY_PATTERNS = ErrorReply("ERR", f"MATCH must have at most {MOST_PATTERNS} patterns")
PATTERN_TOO_LONG = ErrorReply(
    "ERR", f"a pattern of MATCH must have at most {LONGEST_PATTERN} bytes"
)
LOOKS = 20_000  # entries that one call looks at for WHERE, before others have their turn
NO_LIMIT = 2**62  # entries
_WOKEN = WOKEN  # as a C number


class Request:
    """The options and keys of one call. Its ids stand in argv from *ids_at* on.

    Block.resume has it while the client waits.
    """

    __slots__ = (
        "block_ms",
        "consumer",
        "count",
        "given",
        "group",
        "ids_at",
        "is_full",
        "keys",
        "look",
        "makes_groups",
        "max_count",
        "max_size",
        "min_idle",
        "noack",
        "nofields",
        "patterns",
        "priority",
        "reads_on",
        "tells_deadline",
        "tells_fence",
        "where",
    )

    def __init__(self) -> None:
        self.count = 0  # entries of each stream; 0: all
        self.max_count = 0  # entries of all streams; 0: any number
        self.max_size = 0  # bytes of the reply, but for its first entry; 0: any number
        self.given = 0  # entries so far
        self.is_full = False  # whether one of the two limits is reached
        self.block_ms: int | None = None  # None: do not wait; 0: for ever
        self.group: bytes | None = None
        self.consumer = b""
        self.noack = False
        self.makes_groups = False  # whether a group that is not there is made
        self.patterns: list[bytes] | None = None  # of keys, which are not named then
        self.nofields = False  # whether only ids are wanted
        self.priority = False  # whether the first stream that gives something is the only one
        self.tells_deadline = False  # whether the reply says until when the consumer has an entry
        self.tells_fence = False  # and the number of its turn
        self.min_idle = NO_CLAIM  # ms; what was given so long ago is claimed
        self.where: EntryFilter | None = None  # which entries are wanted; None: all
        # How far it has come that waits. By patterns: the Look of XREAD (see stream_patterns.py);
        # of an XREADGROUP how many streams it may still look at. Of an XREAD with WHERE: up to
        # where it has passed entries, by the place of the ID.
        self.look: object | None = None
        # Whether it looks again in the next turn: a group has parked as much as one call may, or a
        # dead letter has come to a stream that was looked at before.
        self.reads_on = False
        self.keys: list[bytes] = []
        self.ids_at = 0

    def tell(self, word: bytes) -> bool:
        """Let the reply tell what *word* asks for. False if that is nothing."""
        if octets.same_letters(word, b"WITHDEADLINE"):
            self.tells_deadline = True
        elif octets.same_letters(word, b"WITHFENCE"):
            self.tells_fence = True
        else:
            return False
        return True

    def count_now(self) -> int:
        """How many entries the next stream may give; 0: all."""
        if not self.max_count:
            return self.count
        left = self.max_count - self.given
        return min(self.count, left) if self.count else left

    def note(self, given: int, has_room: bool) -> None:
        """A stream has given so many entries; *has_room*: it was not the size that ended it."""
        self.given += given
        self.is_full = not has_room or (self.max_count > 0 and self.given >= self.max_count)

    def begin_again(self) -> None:
        """Forget what was given: its command runs once more."""
        self.given = 0
        self.is_full = self.reads_on = False
        if self.where is not None:
            self.where.begin_again(LOOKS)

    def goes_on(self) -> bool:
        """Whether it has not looked at all that there is, and goes on in the next turn."""
        return self.reads_on or (self.where is not None and self.where.is_cut)


def request_of(call: Call, with_group: bool) -> Request:
    """What the call says; *with_group* for XREADGROUP. Raises ErrorReply.

    A command that is run again, because its client waits, is not read again: it may have a million
    values, and is woken by each entry that is added.
    """
    waiter = call.client.waiter
    if waiter is not None and call.origin & _WOKEN:
        request: Request = waiter.block.resume
        request.begin_again()
        return request
    return take_request(call.argv, with_group, call.now_ms, call.is_inside())


def take_request(
    argv: list[bytes], with_group: bool, now_ms: int, is_inside: bool = False
) -> Request:
    """Read all but the ids; *with_group* for XREADGROUP. Raises ErrorReply.

    *is_inside*: the command cannot wait, so it has to look at all entries at once.
    """
    request = Request()
    args = Args(argv, 1)
    while args.at < len(argv):
        word = argv[args.at]
        args.at += 1
        left = len(argv) - args.at
        if octets.same_letters(word, b"STREAMS") and left:
            if left % 2 == 1:
                raise UNBALANCED_GROUP if with_group else UNBALANCED
            request.ids_at = args.at + left // 2
            request.keys = argv[args.at : request.ids_at]
            break
        if octets.same_letters(word, b"COUNT") and left:
            request.count = max(args.take_int(), 0)
        elif octets.same_letters(word, b"MAXCOUNT") and left:
            request.max_count = args.take_positive(MAX_COUNT_NOT_POSITIVE)
        elif octets.same_letters(word, b"MAXSIZE") and left:
            request.max_size = args.take_positive(MAX_SIZE_NOT_POSITIVE)
        elif octets.same_letters(word, b"BLOCK") and left:
            request.block_ms = to_timeout_ms(args.take(), now_ms)
        elif octets.same_letters(word, b"GROUP") and left > 1:
            if not with_group:
                raise GROUP_IN_XREAD
            request.group = args.take()
            request.consumer = args.take()
        elif octets.same_letters(word, b"CLAIM") and left:
            if not with_group:
                raise CLAIM_IN_XREAD
            request.min_idle = args.take_int(IDLE_NOT_AN_INTEGER)
            if request.min_idle < 0:
                raise IDLE_NEGATIVE
        elif octets.same_letters(word, b"NOACK"):
            if not with_group:
                raise NOACK_IN_XREAD
            request.noack = True
        elif not _take_own_word(request, args, word, with_group, is_inside):
            raise errors.SYNTAX
    if not request.keys:
        _check_patterns(request)
    elif request.makes_groups:
        raise errors.SYNTAX
    if request.max_count and request.max_count < request.count:
        raise MAX_COUNT_BELOW_COUNT
    if with_group and request.group is None:
        raise NO_GROUP_OPTION
    return request


def _take_own_word(
    request: Request, args: Args, word: bytes, with_group: bool, is_inside: bool
) -> bool:
    """Read the option *word* if it is one that no Redis has. Raises ErrorReply."""
    if octets.same_letters(word, b"PRIORITY"):
        request.priority = True
    elif octets.same_letters(word, b"NOFIELDS"):
        request.nofields = True
    elif octets.same_letters(word, b"WHERE") and args.left() > 2 and request.where is None:
        request.where = _take_where(args, NO_LIMIT if is_inside else LOOKS)
    elif octets.same_letters(word, b"MATCH") and args.left() > 1:
        request.ids_at = len(args.argv) - 1
        request.patterns = args.argv[args.at : request.ids_at]
        args.at = len(args.argv)
        _check_size(request.patterns)
        if with_group and args.argv[-1] != b">":
            raise NEW_ONLY
    elif with_group and octets.same_letters(word, b"MKGROUP"):
        request.makes_groups = True
    else:
        return with_group and request.tell(word)
    return True


def _check_size(patterns: list[bytes]) -> None:
    """Raise ErrorReply if there are too many patterns, or one is too long.

    The limits defend all who make keys against one who asks for patterns that none can have.
    """
    if len(patterns) > MOST_PATTERNS:
        raise TOO_MANY_PATTERNS
    for pattern in patterns:
        if len(pattern) > LONGEST_PATTERN:
            raise PATTERN_TOO_LONG


def _check_patterns(request: Request) -> None:
    """Raise ErrorReply unless there are patterns in place of keys."""
    if request.patterns is None or request.priority:
        raise errors.SYNTAX


def _take_where(args: Args, looks: int) -> EntryFilter:
    """Read what follows WHERE. Raises ErrorReply."""
    name = args.take()
    count = args.take_positive(VALUES_NOT_POSITIVE)
    if count > args.left():
        raise errors.SYNTAX
    args.at += count
    return EntryFilter(name, args.argv[args.at - count : args.at], looks)
