"""The arguments of the commands that draw from a value at random: ``key [count [WITH...]]``."""

from __future__ import annotations

from protocol.replies import ErrorReply
from server.table import errors
from server.table.args import INT64_MAX, to_int

COUNT_OUT_OF_RANGE = ErrorReply(
    "ERR", f"value is out of range, value must between {-INT64_MAX} and {INT64_MAX}"
)
TOO_MANY = ErrorReply("ERR", "value is out of range")
MOST_PAIRS = INT64_MAX // 2  # so that twice as many replies are still a number of 64 bits


def count_and_form(argv: list[bytes], with_word: bytes) -> tuple[int, bool]:
    """The count, and whether *with_word* is after it: WITHVALUES, WITHSCORES.

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
