"""Adding to a sorted set by the rules of ZADD, which ZINCRBY follows too."""

from __future__ import annotations

from math import isnan

from protocol.replies import ErrorReply, Reply
from server.commands.sorted_sets import score_args
from server.dispatch.call import Call
from server.table import errors
from server.table.args import Args
from storage.errors import TooLarge
from storage.limits import ListpackLimits
from storage.sorted_sets.leaf import LONGEST_MEMBER
from storage.sorted_sets.sorted_set import SortedSet

_LONGEST = LONGEST_MEMBER  # the same as a C number
LETTERS = b"A"  # options begin with letters, and numbers with what comes before these

# The options, and what becomes of one member.
NX, XX, GT, LT, CH, INCR = 1, 2, 4, 8, 16, 32
CONDITIONS = NX | XX | GT | LT | INCR
NOTHING, SAME, ADDED, UPDATED = 0, 1, 2, 3

NX_WITH_XX = ErrorReply("ERR", "XX and NX options at the same time are not compatible")
GT_LT_NX = ErrorReply("ERR", "GT, LT, and/or NX options at the same time are not compatible")
INCR_OF_MANY = ErrorReply("ERR", "INCR option supports a single increment-element pair")
RESULT_NOT_A_NUMBER = ErrorReply("ERR", "resulting score is not a number (NaN)")


def with_options(call: Call) -> Reply:
    """ZADD, whose options come before the first score."""
    if call.argv[2] < LETTERS and len(call.argv) % 2 == 0:  # a score, and most have no options
        return _add(call, 2, 0)
    args = Args(call.argv, 2)
    options = _take_options(args)
    if args.left() == 0 or args.left() % 2:
        raise errors.SYNTAX
    if options & NX and options & XX:
        raise NX_WITH_XX
    if (options & NX and options & (GT | LT)) or (options & GT and options & LT):
        raise GT_LT_NX
    if options & INCR and args.left() > 2:
        raise INCR_OF_MANY
    return _add(call, args.at, options)


def increment(call: Call) -> Reply:
    """ZINCRBY: a score and a member are all that there is. Raises SYNTAX for an option of ZADD."""
    if call.argv[2] >= LETTERS and _take_options(Args(call.argv, 2)):
        raise errors.SYNTAX
    return _add(call, 2, INCR)


def _take_options(args: Args) -> int:
    """Take the words that come before the first score."""
    options = 0
    while True:
        if args.skip(b"NX"):
            options |= NX
        elif args.skip(b"XX"):
            options |= XX
        elif args.skip(b"GT"):
            options |= GT
        elif args.skip(b"LT"):
            options |= LT
        elif args.skip(b"CH"):
            options |= CH
        elif args.skip(b"INCR"):
            options |= INCR
        else:
            return options


def _add(call: Call, first: int, options: int) -> Reply:
    """Add the scores and members ``argv[first:]``, in turns, as *options* say. Raises TooLarge."""
    argv = call.argv
    key = argv[1]
    scores = []
    longest = 0
    for at in range(first, len(argv), 2):
        scores.append(score_args.to_score(argv[at]))
        longest = max(longest, len(argv[at + 1]))
    if longest > _LONGEST:  # none is added then
        raise TooLarge
    db = call.db
    values = db.lend(key, SortedSet)
    is_new = values is None
    if values is None:
        if options & XX:
            return None if options & INCR else 0
        values = SortedSet()
    limits = call.server.node_limits.sorted_set
    if len(scores) > limits.entries or (is_new and longest > limits.value):
        values.as_tree()  # at once, as it is going to be
    addition = _addition(values, options, limits)
    for at in range(first, len(argv), 2):
        addition.add(argv[at + 1], scores[(at - first) >> 1])
    if is_new:
        db.add(key, values, packs=True)
    else:
        db.give_back(key, values)
    changes = addition.added + addition.updated
    if changes:
        db.changed(key, b"zincr" if options & INCR else b"zadd", changes=changes)
    if options & INCR:
        return None if addition.outcome == NOTHING else addition.score
    return changes if options & CH else addition.added


class Addition:
    """Adds members one by one. *outcome* is that of the last one, and *score* what it has then."""

    __slots__ = ("_limits", "_options", "_values", "added", "outcome", "score", "updated")

    _values: SortedSet
    _options: int
    _limits: ListpackLimits
    added: int  # members that are new
    updated: int  # members with another score than before
    outcome: int
    score: float

    def add(self, member: bytes, score: float) -> None:
        """Add *member*, or change its score, if the options allow it.

        Raises RESULT_NOT_A_NUMBER, if INCR adds infinities of both signs.
        """
        if self._options & CONDITIONS:
            self.outcome = self._add_if(member, score)
        else:
            old = self._values.put(member, score, self._limits)
            if old is None:
                self.outcome = ADDED
            else:
                self.outcome = SAME if old == score else UPDATED
        if self.outcome == ADDED:
            self.added += 1
        elif self.outcome == UPDATED:
            self.updated += 1

    def _add_if(self, member: bytes, score: float) -> int:
        """Do that under the conditions that there are; return the outcome."""
        options = self._options
        found = self._values.score_of(member)
        if found is None:
            if options & XX:
                return NOTHING
            self._values.put(member, score, self._limits)
            self.score = score
            return ADDED
        if options & NX:
            return NOTHING
        old: float = found
        if options & INCR:
            score += old
            if isnan(score):
                raise RESULT_NOT_A_NUMBER
        if (options & LT and score >= old) or (options & GT and score <= old):
            return NOTHING
        self.score = score
        if score == old:
            return SAME
        self._values.put(member, score, self._limits)
        return UPDATED


def _addition(values: SortedSet, options: int, limits: ListpackLimits) -> Addition:
    """One that adds to *values*. Made this way, it costs a third of the time."""
    made = Addition.__new__(Addition)
    made._values = values  # noqa: SLF001  made here
    made._options = options  # noqa: SLF001
    made._limits = limits  # noqa: SLF001
    made.added = made.updated = 0
    made.outcome = NOTHING
    made.score = 0.0
    return made
