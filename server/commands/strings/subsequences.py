"""LCS: the longest common subsequence of two strings."""

from __future__ import annotations

from typing import NamedTuple

from protocol.replies import ErrorReply, Reply
from server.commands.strings import string_steps
from server.dispatch.call import Call
from server.table import errors
from server.table.args import Args
from server.table.command import Flags, command
from server.table.keys import ACCESS, RO, KeyRange
from storage.keyspace.key_lookups import ANY
from storage.strings.subsequence import CommonSubsequence

NOT_STRINGS = ErrorReply("ERR", "The specified keys must contain string values")
LENGTH_OR_INDEXES = ErrorReply(
    "ERR", "If you want both the length and indexes, please just use IDX."
)
TOO_LARGE = ErrorReply(
    "ERR", "Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len"
)
LENGTH_BYTES = 4  # of each pair of bytes in Redis, whose limit holds here too


@command(
    "LCS",
    arity=-3,
    flags=Flags.READONLY,
    group="string",
    since="7.0.0",
    complexity="O(N*M) where N and M are the lengths of the strings.",
    keys=KeyRange(RO | ACCESS, last=2),
    types={"key1": "key", "key2": "key"},
)
def lcs(call: Call) -> Reply:
    """Finds the longest common subsequence of two strings.

    LCS key1 key2 [LEN] [IDX] [MINMATCHLEN min-match-len] [WITHMATCHLEN]
    """
    one, other = _text(call, call.argv[1]), _text(call, call.argv[2])
    if one is None or other is None:
        raise NOT_STRINGS
    options = _options(Args(call.argv, 3))
    if (len(one) + 1) * (len(other) + 1) * LENGTH_BYTES > call.longest_string():
        raise TOO_LARGE
    found = CommonSubsequence(one, other)
    if options.indexes:
        return {b"matches": _matches(found, options), b"len": found.length}
    length: int = found.length
    return length if options.length else found.text()


class Options(NamedTuple):
    """What LCS answers: the subsequence, its length, or the runs of equal bytes."""

    length: bool
    indexes: bool
    shortest: int  # shorter runs are left out
    with_lengths: bool


def _options(args: Args) -> Options:
    length = indexes = with_lengths = False
    shortest = 0
    while args.left():
        if args.skip(b"IDX"):
            indexes = True
        elif args.skip(b"LEN"):
            length = True
        elif args.skip(b"WITHMATCHLEN"):
            with_lengths = True
        elif args.left() > 1 and args.skip(b"MINMATCHLEN"):
            shortest = args.take_int()
        else:
            raise errors.SYNTAX
    if length and indexes:
        raise LENGTH_OR_INDEXES
    return Options(length, indexes, shortest, with_lengths)


def _text(call: Call, key: bytes) -> bytes | None:
    """The string at *key*, empty if there is none; None if it is no string."""
    value = call.db.read(key, ANY)
    if value is None:
        return b""
    return string_steps.text_of(value) if type(value) in (bytes, bytearray, int) else None


def _matches(found: CommonSubsequence, options: Options) -> list[Reply]:
    matches: list[Reply] = []
    for one, other, size in found.ranges():
        if size >= options.shortest:
            match: list[Reply] = [[one, one + size - 1], [other, other + size - 1]]
            matches.append([*match, size] if options.with_lengths else match)
    return matches
