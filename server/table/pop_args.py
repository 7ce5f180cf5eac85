"""The arguments of the commands that take elements off an end of the first of several keys."""

from __future__ import annotations

from protocol.replies import ErrorReply
from server.table import errors
from server.table.args import Args, to_int

COUNT_NOT_POSITIVE = ErrorReply("ERR", "count should be greater than 0")
NUMKEYS_NOT_POSITIVE = ErrorReply("ERR", "numkeys should be greater than 0")


def take_keys_end_count(args: Args, first: bytes, last: bytes) -> tuple[list[bytes], bool, int]:
    """``numkeys key [key ...] first|last [COUNT count]``: LMPOP, ZMPOP; True is the *first* end.

    Raises SYNTAX, or the error of the number that is wrong.
    """
    number = _positive(args.take(), NUMKEYS_NOT_POSITIVE)
    if number >= args.left:
        raise errors.SYNTAX
    keys = [args.take() for _ in range(number)]
    word = args.take_word(first, last)
    if word is None:
        raise errors.SYNTAX
    count = None
    while args.left:
        if count is not None or args.take_word(b"COUNT") is None or not args.left:
            raise errors.SYNTAX
        count = _positive(args.take(), COUNT_NOT_POSITIVE)
    return keys, word == first, 1 if count is None else count


def _positive(text: bytes, error: ErrorReply) -> int:
    """A number above zero. Raises *error* for all else."""
    number = to_int(text, error)
    if number <= 0:
        raise error
    return number
