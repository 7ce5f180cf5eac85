"""The arguments with a count: of those who pop from an end, and of those who draw at random."""

from __future__ import annotations

from protocol.replies import ErrorReply
from server.table import errors
from server.table.args import INT64_MAX, Args, to_int

COUNT_NOT_POSITIVE = ErrorReply("ERR", "count should be greater than 0")
NUMKEYS_NOT_POSITIVE = ErrorReply("ERR", "numkeys should be greater than 0")
COUNT_OUT_OF_RANGE = ErrorReply(
    "ERR", f"value is out of range, value must between {-INT64_MAX} and {INT64_MAX}"
)
TOO_MANY = ErrorReply("ERR", "value is out of range")
MOST_PAIRS = INT64_MAX // 2  # so that twice as many replies are still a number of 64 bits


def take_keys_end_count(args: Args, first: bytes, last: bytes) -> tuple[list[bytes], bool, int]:
    """``numkeys key [key ...] first|last [COUNT count]``: LMPOP, ZMPOP; True is the *first* end.

    Raises SYNTAX, or the error of the number that is wrong.
    """
    number = args.take_positive(NUMKEYS_NOT_POSITIVE)
    if number >= args.left():
        raise errors.SYNTAX
    keys = [args.take() for _ in range(number)]
    word = args.take_word(first, last)
    if word is None:
        raise errors.SYNTAX
    count = None
    while args.left():
        if count is not None or args.take_word(b"COUNT") is None or not args.left():
            raise errors.SYNTAX
        count = args.take_positive(COUNT_NOT_POSITIVE)
    return keys, word == first, 1 if count is None else count


def count_and_form(argv: list[bytes], with_word: bytes) -> tuple[int, bool]:
    """``key count [with_word]``: HRANDFIELD, ZRANDMEMBER; the count, and whether the word is there.

    A negative count is of draws that may repeat.
    """
    count = to_int(argv[2])
    if count < -INT64_MAX:
        raise COUNT_OUT_OF_RANGE
    in_pairs = len(argv) == 4 and argv[3].upper() == with_word
    if len(argv) > 3 and not in_pairs:
        raise errors.SYNTAX
    if in_pairs and not -MOST_PAIRS <= count <= MOST_PAIRS:
        raise TOO_MANY
    return count, in_pairs
