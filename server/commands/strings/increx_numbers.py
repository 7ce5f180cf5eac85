"""The numbers of INCREX: an increment and bounds, all integers or all floats, and the sum.

    sum in the bounds        it is the new value
    beyond one of them       with SATURATE the bound is the new value; else nothing changes

Without bounds, those of the type count: 64 bits, or what a float can be.
"""

from __future__ import annotations

from protocol.replies import ErrorReply
from server.commands.shared import long_double
from server.commands.shared.long_double import Float
from server.commands.strings.increx_options import IncrexOptions
from server.table import args, errors
from server.table.args import INT64_MAX, INT64_MIN

BOUNDS_CROSSED = ErrorReply("ERR", "LBOUND can't be greater than UBOUND")
INCREMENT_INFINITE = ErrorReply("ERR", "BYFLOAT increment cannot be Infinity")
VALUE_INFINITE = ErrorReply("ERR", "value cannot be Infinity")
DIFFERENCE_OVERFLOWS = ErrorReply("ERR", "applied increment would overflow")
DIFFERENCE_INFINITE = ErrorReply("ERR", "applied increment would be Infinity")

INCREMENT, LBOUND, UBOUND = "Increment", "LBOUND", "UBOUND"
NOT_INTEGERS = {
    name: ErrorReply("ERR", f"{name} is not an integer or out of range")
    for name in (INCREMENT, LBOUND, UBOUND)
}
NOT_FLOATS = {
    name: ErrorReply("ERR", f"{name} is not a valid float") for name in (INCREMENT, LBOUND, UBOUND)
}

GREATEST: Float = (2**64 - 1, 16384 - 64)
LEAST: Float = (1 - 2**64, 16384 - 64)
ONE: Float = (1, 0)
BEYOND = 20000  # an exponent that no float has
INFINITY: Float = (1, BEYOND)
MINUS_INFINITY: Float = (-1, BEYOND)


class Sum:
    """What INCREX makes of a value: None as *new*: nothing changes. *old* is what it was."""

    __slots__ = ("difference", "new", "old")

    def __init__(self, old: bytes, new: bytes | None, difference: bytes) -> None:
        self.old = old
        self.new = new
        self.difference = difference


class Adder:
    """An increment and bounds: what INCREX does with any value.

    They are what *options* say. Raises errors of these numbers.
    """

    __slots__ = ("_saturates",)

    def __init__(self, options: IncrexOptions) -> None:
        self._saturates = options.saturates

    def added_to(self, value: bytes) -> Sum:
        """The sum with *value*. Raises an error of the value, or of the difference."""
        raise NotImplementedError


class IntAdder(Adder):
    """One of integers."""

    __slots__ = ("_by", "_high", "_low")

    def __init__(self, options: IncrexOptions) -> None:
        super().__init__(options)
        increment, least, greatest = options.increment, options.least, options.greatest
        self._by = 1 if increment is None else args.to_int(increment, NOT_INTEGERS[INCREMENT])
        self._low = INT64_MIN if least is None else args.to_int(least, NOT_INTEGERS[LBOUND])
        self._high = INT64_MAX
        if greatest is not None:
            self._high = args.to_int(greatest, NOT_INTEGERS[UBOUND])
        if self._low > self._high:
            raise BOUNDS_CROSSED

    def added_to(self, value: bytes) -> Sum:
        old = args.to_int(value)
        new = old + self._by
        if not self._low <= new <= self._high:
            if not self._saturates:
                return Sum(value, None, b"0")
            new = self._low if new < self._low else self._high
            if not INT64_MIN <= new - old <= INT64_MAX:
                raise DIFFERENCE_OVERFLOWS
        return Sum(value, b"%d" % new, b"%d" % (new - old))


class FloatAdder(Adder):
    """One of floats. The difference is the one between the values, which are rounded."""

    __slots__ = ("_by", "_high", "_low")

    def __init__(self, options: IncrexOptions) -> None:
        super().__init__(options)
        increment, least, greatest = options.increment, options.least, options.greatest
        self._by = ONE if increment is None else _to_float(increment, NOT_FLOATS[INCREMENT])
        if _is_infinite(self._by):
            raise INCREMENT_INFINITE
        self._low = LEAST if least is None else _to_float(least, NOT_FLOATS[LBOUND])
        self._high = GREATEST if greatest is None else _to_float(greatest, NOT_FLOATS[UBOUND])
        if long_double.is_less(self._high, self._low):
            raise BOUNDS_CROSSED

    def added_to(self, value: bytes) -> Sum:
        old = _to_float(value, errors.NOT_A_FLOAT)
        if _is_infinite(old):
            raise VALUE_INFINITE
        total = long_double.sum_of(old, self._by)
        new = total if total is not None else (MINUS_INFINITY if self._by[0] < 0 else INFINITY)
        is_low = long_double.is_less(new, self._low)
        if total is None or is_low or long_double.is_less(self._high, new):
            if not self._saturates:
                return Sum(long_double.text_of(old), None, b"0")
            new = self._low if is_low else self._high
        minus_old = long_double.negated(old)
        difference = None if _is_infinite(new) else long_double.sum_of(new, minus_old)
        if difference is None:
            raise DIFFERENCE_INFINITE
        return Sum(value, long_double.text_of(new), long_double.text_of(difference))


def _is_infinite(number: Float) -> bool:
    return number[1] == BEYOND


def _to_float(text: bytes, error: ErrorReply) -> Float:
    """A float, or one of both infinities. Raises *error*."""
    try:
        number: Float | None = long_double.parse(text)
    except ValueError:
        raise error from None
    if number is None:
        return MINUS_INFINITY if text.startswith(b"-") else INFINITY
    return number
