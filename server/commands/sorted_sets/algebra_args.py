"""``numkeys key [key ...]`` and the options after them, of ZUNION and its relatives."""

from __future__ import annotations

from protocol.replies import ErrorReply
from server.commands.sorted_sets import score_args, zset_operations
from server.commands.sorted_sets.zset_operations import Source, WeightedSources
from server.dispatch.call import Call
from server.table import errors
from server.table.args import Args, to_int
from storage.errors import WrongType
from storage.keyspace.key_lookups import ANY
from storage.sets.member_set import MemberSet
from storage.sorted_sets.sorted_set import SortedSet

WEIGHT_NOT_A_FLOAT = ErrorReply("ERR", "weight value is not a float")
LIMIT_NEGATIVE = ErrorReply("ERR", "LIMIT can't be negative")
AGGREGATES = {
    b"SUM": zset_operations.total,
    b"MIN": zset_operations.lower,
    b"MAX": zset_operations.higher,
    b"COUNT": zset_operations.total,
}


class AlgebraArgs:
    """The sources, which are looked up, and the options that the command has.

    WEIGHTS and AGGREGATE if *weighted*; LIMIT if *counting*; WITHSCORES if nothing is counted nor
    stored.
    """

    __slots__ = ("_aggregate", "_weights", "counts_sources", "limit", "sources", "with_scores")

    def __init__(
        self, call: Call, count_at: int, weighted: bool = False, counting: bool = False
    ) -> None:
        """Read the words from *count_at* on, where numkeys is. Raises WrongType, as Redis does,
        before an option is looked at.
        """
        args = Args(call.argv, count_at)
        number = args.take_int()
        if number < 1:
            name = call.argv[0].decode().lower()
            raise ErrorReply("ERR", f"at least 1 input key is needed for '{name}' command")
        if number > args.left():
            raise errors.SYNTAX
        self.sources = [_source(call, args.take()) for _ in range(number)]
        self._weights = [1.0] * number
        self._aggregate = zset_operations.total
        self.counts_sources = False  # scores are not looked at: each is 1
        self.with_scores = False
        self.limit = 0
        scored = count_at == 1 and not counting
        while args.left():
            if weighted and args.left() > number and args.skip(b"WEIGHTS"):
                self._weights = [
                    score_args.to_score(args.take(), WEIGHT_NOT_A_FLOAT) for _ in range(number)
                ]
            elif weighted and args.left() > 1 and args.skip(b"AGGREGATE"):
                word = args.take_word(*AGGREGATES)
                if word is None:
                    raise errors.SYNTAX
                self._aggregate = AGGREGATES[word]
                self.counts_sources = word == b"COUNT"
            elif scored and args.skip(b"WITHSCORES"):
                self.with_scores = True
            elif counting and args.left() > 1 and args.skip(b"LIMIT"):
                self.limit = to_int(args.take(), LIMIT_NEGATIVE)
                if self.limit < 0:
                    raise LIMIT_NEGATIVE
            else:
                raise errors.SYNTAX

    def weighted_sources(self) -> WeightedSources:
        """The sources with what the options say of their scores."""
        return WeightedSources(self.sources, self._weights, self._aggregate)


def _source(call: Call, key: bytes) -> Source:
    value: Source = call.db.read(key, ANY)
    if value is not None and not isinstance(value, (SortedSet, MemberSet)):
        raise WrongType
    return value
