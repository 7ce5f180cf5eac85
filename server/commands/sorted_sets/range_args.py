"""The range that a command asks for: two ends, options, and what they select of a sorted set."""

from __future__ import annotations

from protocol.replies import ErrorReply
from server.commands.sorted_sets import score_args
from server.table import errors
from server.table.args import Args, to_int
from storage.sorted_sets.bound import Bound
from storage.sorted_sets.sorted_set import SortedSet

BY_RANK, BY_SCORE, BY_MEMBER = 0, 1, 2
ALL = -1  # as the count of LIMIT

LIMIT_WITHOUT_BY = ErrorReply(
    "ERR",
    "syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX",
)
SCORES_WITH_BYLEX = ErrorReply(
    "ERR", "syntax error, WITHSCORES not supported in combination with BYLEX"
)


class RangeArgs:
    """A range by rank, score or member. *find* sets *first* and *end*: the ranks that it selects.

    With *reverse*, it is walked from *end* - 1 down to *first*.
    """

    __slots__ = (
        "_begin", "_by", "_count", "_offset", "_start", "_stop", "_until",
        "end", "first", "reverse", "with_scores",
    )  # fmt: skip

    _by: int
    _offset: int
    _count: int
    _start: int  # by rank; from the end if negative
    _stop: int
    _begin: Bound | None  # by score or member
    _until: Bound | None
    end: int
    first: int
    reverse: bool
    with_scores: bool

    def take_options(self, args: Args, any_kind: bool, storing: bool) -> None:
        """Take all that is left. *any_kind*: BYSCORE, BYLEX, REV too; *storing*: no WITHSCORES."""
        while args.left():
            if not storing and args.skip(b"WITHSCORES"):
                self.with_scores = True
            elif args.left() > 2 and args.skip(b"LIMIT"):
                self._offset = args.take_int()
                self._count = args.take_int()
            elif any_kind and not self.reverse and args.skip(b"REV"):
                self.reverse = True
            elif any_kind and self._by == BY_RANK and args.skip(b"BYLEX"):
                self._by = BY_MEMBER
            elif any_kind and self._by == BY_RANK and args.skip(b"BYSCORE"):
                self._by = BY_SCORE
            else:
                raise errors.SYNTAX
        if self._count != ALL and self._by == BY_RANK:
            raise LIMIT_WITHOUT_BY
        if self.with_scores and self._by == BY_MEMBER:
            raise SCORES_WITH_BYLEX

    def take_ends(self, low: bytes, high: bytes) -> None:
        """Read the two ends. They are given in the order of the walk, if they are not ranks."""
        if self._by == BY_RANK:
            self._start = to_int(low)
            self._stop = to_int(high)
            return
        if self.reverse:
            low, high = high, low
        if self._by == BY_SCORE:
            self._begin = score_args.score_bound(low, False)
            self._until = score_args.score_bound(high, True)
        else:
            self._begin = score_args.member_bound(low, False)
            self._until = score_args.member_bound(high, True)

    def find_places(self, values: SortedSet) -> None:
        """Find the ranks of *values* that are in the range. O(log N)."""
        if self._begin is None or self._until is None:
            self._find_ranks(values.length())
            return
        self.first = values.rank(self._begin)
        self.end = max(self.first, values.rank_from(self.first, self._until))
        if self._offset or self._count != ALL:
            self._limit()

    def _find_ranks(self, size: int) -> None:
        start, stop = self._start, self._stop
        if start < 0:
            start = max(0, start + size)
        if stop < 0:
            stop += size
        stop = min(stop, size - 1)
        if start > stop:
            start, stop = 0, -1
        if self.reverse:
            self.first, self.end = size - 1 - stop, size - start
        else:
            self.first, self.end = start, stop + 1

    def _limit(self) -> None:
        """Pass over some, and keep some of the others; a negative count keeps all of them."""
        size = self.end - self.first
        if not 0 <= self._offset < size:
            self.first = self.end = 0
            return
        left = size - self._offset
        count = min(left, self._count) if self._count >= 0 else left
        if self.reverse:
            self.end -= self._offset
            self.first = self.end - count
        else:
            self.first += self._offset
            self.end = self.first + count


def of_any_kind(argv: list[bytes], low_at: int) -> RangeArgs:
    """The range of ZRANGE, or of ZRANGESTORE, where the ends come one word later."""
    made = _made(BY_RANK, False)
    if len(argv) > low_at + 2:
        made.take_options(Args(argv, low_at + 2), True, low_at == 3)
    made.take_ends(argv[low_at], argv[low_at + 1])
    return made


def of_kind(by: int, argv: list[bytes], reverse: bool) -> RangeArgs:
    """The range of a command that knows one kind only: BY_RANK, BY_SCORE or BY_MEMBER."""
    made = _made(by, reverse)
    if len(argv) > 4:
        made.take_options(Args(argv, 4), False, False)
    made.take_ends(argv[2], argv[3])
    return made


def _made(by: int, reverse: bool) -> RangeArgs:
    """A range without ends and options. Made this way, it costs a third of the time."""
    made = RangeArgs.__new__(RangeArgs)
    made._by = by  # noqa: SLF001  made here
    made.reverse = reverse
    made.with_scores = False
    made._offset = 0  # noqa: SLF001
    made._count = ALL  # noqa: SLF001
    made._start = made._stop = 0  # noqa: SLF001
    made._begin = made._until = None  # noqa: SLF001
    made.first = made.end = 0
    return made
