"""The arguments of SCAN, and of its relatives that scan one value: a cursor, then options."""

from __future__ import annotations

from protocol.replies import ErrorReply
from server.table import errors
from server.table.args import Args
from storage.glob import match

INVALID_CURSOR = ErrorReply("ERR", "invalid cursor")
NOVALUES_OF_HSCAN = ErrorReply("ERR", "NOVALUES option can only be used in HSCAN")
DEFAULT_PAGE = 10
MAX_CURSOR = 2**64 - 1
MAX_CURSOR_TEXT = 20
EVERYTHING = b"*"


def to_cursor(text: bytes) -> int:
    """Read a cursor. Raises INVALID_CURSOR."""
    if not text.isdigit() or len(text) > MAX_CURSOR_TEXT or int(text) > MAX_CURSOR:
        raise INVALID_CURSOR
    return int(text)


class ScanOptions:
    """``[MATCH pattern] [COUNT count] [TYPE type] [NOVALUES]``, in any order; the last one counts.

    *type_name* is in small letters, None for any type. TYPE is for SCAN alone, NOVALUES for HSCAN.
    """

    __slots__ = ("count", "no_values", "pattern", "type_name")

    def __init__(self, args: Args, *more: bytes) -> None:
        """Take all that is left of *args*; *more*: TYPE, NOVALUES. Raises SYNTAX."""
        self.pattern = EVERYTHING
        self.count = DEFAULT_PAGE
        self.type_name: bytes | None = None
        self.no_values = False
        while args.left():
            word = args.take_word(b"MATCH", b"COUNT", *more)
            if word == b"NOVALUES":
                self.no_values = True
            elif word is None or not args.left():
                raise errors.SYNTAX
            elif word == b"MATCH":
                self.pattern = args.take()
            elif word == b"TYPE":
                self.type_name = args.take().lower()
            else:
                self.count = args.take_int()
                if self.count < 1:
                    raise errors.SYNTAX

    def matches(self, name: bytes) -> bool:
        """Whether *name* matches the pattern."""
        return self.pattern == EVERYTHING or match(self.pattern, name)
