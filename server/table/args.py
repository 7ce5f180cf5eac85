"""Reading a command's arguments, left to right, and the numbers in them."""

from __future__ import annotations

from math import ceil, inf, isinf, isnan

from protocol.replies import ErrorReply
from server.table import errors
from storage import octets

INT64_MIN = -(2**63)
INT64_MAX = 2**63 - 1
INT32_MIN = -(2**31)
INT32_MAX = 2**31 - 1
MAX_TIMEOUT_TEXT = 5119  # bytes; Redis copies the text of a timeout, but not that of a score
MANY_SECONDS = 10**12  # up to here a timeout in ms fits 64 bits
_INT64_MAX = INT64_MAX  # as a C number


def to_int(text: bytes, error: ErrorReply = errors.NOT_AN_INTEGER) -> int:
    """Read a signed 64-bit integer as redis does: no blanks, no plus, no leading zeros.

    Raises *error*.
    """
    number = octets.short_number(text)
    if number >= 0:
        return number
    if not octets.is_int64(text):
        raise error
    return octets.int64_of(text)


def to_float(text: bytes, error: ErrorReply = errors.NOT_A_FLOAT) -> float:
    """Read a double as strtod does, but with no blanks and no NaN. Raises *error*.

    What is too large is infinite. O(bytes): the text may be as long as any word.
    """
    if not text or text[:1].isspace() or text[-1:].isspace():
        raise error
    if b"_" in text:  # Python's digit separators
        raise error
    try:
        number = float.fromhex(text.decode()) if b"x" in text.lower() else float(text)
    except OverflowError:
        number = -inf if text.startswith(b"-") else inf
    except ValueError:
        raise error from None
    if isnan(number):
        raise error
    return number


def to_timeout_s(text: bytes, now_ms: int) -> int:
    """Read a timeout in seconds, fractions allowed, that ends within 64 bits: ms, rounded up."""
    seconds = octets.short_number(text)
    if 0 <= seconds <= MANY_SECONDS:  # as most often
        return seconds * 1000
    if len(text) > MAX_TIMEOUT_TEXT:
        raise errors.TIMEOUT_NOT_A_FLOAT
    number = to_float(text, errors.TIMEOUT_NOT_A_FLOAT)
    if number == -inf:
        raise errors.TIMEOUT_NEGATIVE
    if isinf(number) or number * 1000 > INT64_MAX:
        raise errors.TIMEOUT_OUT_OF_RANGE
    timeout_ms = ceil(number * 1000)
    if timeout_ms > INT64_MAX:
        raise errors.TIMEOUT_OUT_OF_RANGE
    return _checked_timeout(max(timeout_ms, -1), now_ms)


def to_timeout_ms(text: bytes, now_ms: int) -> int:
    """Read a timeout in ms that ends within 64 bits."""
    return _checked_timeout(to_int(text, errors.TIMEOUT_NOT_AN_INTEGER), now_ms)


def _checked_timeout(timeout_ms: int, now_ms: int) -> int:
    if timeout_ms < 0:
        raise errors.TIMEOUT_NEGATIVE
    if timeout_ms > _INT64_MAX - now_ms:
        raise errors.TIMEOUT_OUT_OF_RANGE
    return timeout_ms


def to_int32(text: bytes, error: ErrorReply | None = None) -> int:
    """Read a signed 32-bit integer. Raises *error*, or what redis has for the case."""
    number = to_int(text, error or errors.NOT_AN_INTEGER)
    if not INT32_MIN <= number <= INT32_MAX:
        raise error or errors.NOT_32_BIT
    return number


def to_db_index(text: bytes, databases: int) -> int:
    """Read the number of one of *databases* databases. Raises DB_OUT_OF_RANGE and as to_int32."""
    index = to_int32(text)
    if not 0 <= index < databases:
        raise errors.DB_OUT_OF_RANGE
    return index


class Args:
    """A cursor over argv, which the take_ methods move on."""

    __slots__ = ("argv", "at")

    def __init__(self, argv: list[bytes], at: int = 1) -> None:
        self.argv = argv
        self.at = at  # argv[0] is the command's name

    def left(self) -> int:
        """How many arguments have not been taken."""
        return len(self.argv) - self.at

    def take(self) -> bytes:
        """The next argument. Raises SYNTAX if there is none."""
        if self.at >= len(self.argv):
            raise errors.SYNTAX
        word: bytes = self.argv[self.at]
        self.at += 1
        return word

    def take_word(self, *words: bytes) -> bytes | None:
        """Take the next argument if it is one of *words* (in capitals; any case matches)."""
        if self.at < len(self.argv):
            word = self.argv[self.at].upper()
            if word in words:
                self.at += 1
                return word
        return None

    def skip(self, word: bytes) -> bool:
        """Take the next argument if it is *word* (capitals; any case matches)."""
        if self.at < len(self.argv) and octets.same_letters(self.argv[self.at], word):
            self.at += 1
            return True
        return False

    def take_int(self, error: ErrorReply = errors.NOT_AN_INTEGER) -> int:
        """The next argument as a signed 64-bit integer. Raises SYNTAX or *error*."""
        return to_int(self.take(), error)

    def take_positive(self, error: ErrorReply) -> int:
        """The next argument as a number above zero. Raises SYNTAX, or *error* for all else."""
        number = to_int(self.take(), error)
        if number <= 0:
            raise error
        return number

    def rest(self) -> list[bytes]:
        """All that is left."""
        left = self.argv[self.at :]
        self.at = len(self.argv)
        return left
