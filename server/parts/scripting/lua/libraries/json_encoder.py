"""A value of Lua as JSON, with the words and limits of lua-cjson 2.1.

A table whose keys are whole numbers above 0 is an array, and so is one that decode() has marked as
one; any other, also an empty one, is an object. What is nested is bounded by an option (1000) and
by Lua's stack, not by recursion.
"""

from __future__ import annotations

from math import inf

from server.parts.scripting.lua import lua_api as lua
from server.parts.scripting.lua import natives
from server.parts.scripting.lua.libraries import cjson_options as options
from server.parts.scripting.lua.libraries import lua_octets, number_octets
from server.parts.scripting.lua.libraries.output import Output

LEFT_BRACE, RIGHT_BRACE, LEFT_BRACKET, RIGHT_BRACKET = b"{}[]"
QUOTE, COMMA, COLON = b'",:'
AN_OBJECT, FAILED = -1, -2  # in place of the length of an array
SHORT = 1024  # up to here it costs less to make room for the longest escapes than to count them
LARGEST_KEY = 2**31 - 1
OVERFLOWN = -(2**31)  # what an int of C becomes that is set to a larger number


class JsonEncoder:
    """Writes the value on top of the stack of *L* to *output*."""

    def __init__(self) -> None:
        self.output = Output()
        self.invalid = 0
        self.digits = 0

    def write(self, L: lua.State) -> int:
        """Write it. -1 if it cannot be encoded, which is reported.

        The stack holds the tables that are being written, and above each object its last key.
        """
        self.output.L = L
        self.invalid = options.get(L, options.ENCODE_INVALID)
        self.digits = options.get(L, options.PRECISION)
        most = options.get(L, options.ENCODE_DEPTH)
        outer: list[int] = []  # written and length of the tables that this one is in
        depth = 0
        written = 0
        length = AN_OBJECT
        while True:
            kind = lua.type_at(L, -1)
            if kind == lua.TABLE:
                depth += 1
                if depth > most or not lua.has_room(L, 3):
                    return natives.fail(L, b"Cannot serialise, excessive nesting (%d)" % depth)
                outer.append(written)
                outer.append(length)
                written = 0
                length = self._open(L)
                if length == FAILED:
                    return -1
            elif self._write_plain(L, kind) < 0:
                return -1
            elif depth == 0:
                return 0
            else:
                lua.pop(L, 1)
            while not self._push_next(L, written, length):
                depth -= 1
                length = outer.pop()
                written = outer.pop()
                if depth == 0:
                    return 0
                lua.pop(L, 1)
            written += 1
            if length == AN_OBJECT and self._write_key(L) < 0:
                return -1

    def _open(self, L: lua.State) -> int:
        """Begin the table on top; its length if it is an array, or AN_OBJECT, or FAILED."""
        if options.is_marked(L):
            self.output.byte(LEFT_BRACKET)
            return lua.length(L, -1)
        length = self._array_length(L)
        if length > 0:
            self.output.byte(LEFT_BRACKET)
        elif length != FAILED:
            self.output.byte(LEFT_BRACE)
            lua.push_nil(L)  # before the first key
            length = AN_OBJECT
        return length

    def _push_next(self, L: lua.State, written: int, length: int) -> bool:
        """Push the next value of the table on top, of an object above its key; or end the table."""
        if length == AN_OBJECT:
            if not lua.next_item(L, -2):
                self.output.byte(RIGHT_BRACE)
                return False
        elif written == length:
            self.output.byte(RIGHT_BRACKET)
            return False
        else:
            lua.get_index(L, -1, written + 1)
        if written:
            self.output.byte(COMMA)
        return True

    def _write_key(self, L: lua.State) -> int:
        """Write the key below the top."""
        kind = lua.type_at(L, -2)
        if kind == lua.STRING:
            self._write_string(L, -2)
        elif kind == lua.NUMBER:
            self.output.byte(QUOTE)
            if self._write_number(L, -2) < 0:
                return -1
            self.output.byte(QUOTE)
        else:
            return _refuse(L, -2, b"table key must be a number or string")
        self.output.byte(COLON)
        return 0

    def _write_plain(self, L: lua.State, kind: int) -> int:
        """Write the value on top, which is not a table."""
        if kind == lua.STRING:
            self._write_string(L, -1)
        elif kind == lua.NUMBER:
            return self._write_number(L, -1)
        elif kind == lua.BOOLEAN:
            self.output.text(b"true" if lua.to_boolean(L, -1) else b"false")
        elif kind == lua.NIL or (kind == lua.LIGHT_USERDATA and lua.to_address(L, -1) == 0):
            self.output.text(b"null")
        else:
            return _refuse(L, -1, b"type not supported")
        return 0

    def _write_string(self, L: lua.State, at: int) -> None:
        size = lua.length(L, at)
        if size <= SHORT:
            self.output.reserve(2 + lua_octets.MOST_ESCAPED * size)
        else:
            self.output.reserve(lua_octets.quoted_size(L, at))
        self.output.end = lua_octets.put_quoted(L, at, self.output.buffer, self.output.end)

    def _write_number(self, L: lua.State, at: int) -> int:
        number = lua.to_number(L, at)
        if not -inf < number < inf:
            if self.invalid == options.OFF:
                return _refuse(L, at, b"must not be NaN or Inf")
            if self.invalid == options.NULL:
                self.output.text(b"null")
                return 0
            if not -inf <= number <= inf:
                self.output.text(b"nan")
                return 0
        self.output.reserve(number_octets.MOST_DIGITS)
        self.output.end = number_octets.put_decimal(
            self.output.buffer, self.output.end, number, self.digits
        )
        return 0

    def _array_length(self, L: lua.State) -> int:
        """The largest key of the table on top; AN_OBJECT if not all are whole and above 0.

        FAILED if it has too many holes, which is reported.
        """
        largest = 0
        items = 0
        lua.push_nil(L)
        while lua.next_item(L, -2):
            lua.pop(L, 1)
            key = lua.to_number(L, -1) if lua.type_at(L, -1) == lua.NUMBER else 0.0
            # Beyond 2**53 no number has a fraction.
            if not key >= 1 or not (key > 2.0**53 or key == number_octets.truncated(key)):
                lua.pop(L, 1)
                return AN_OBJECT
            if key > largest:
                largest = number_octets.truncated(key) if key <= LARGEST_KEY else OVERFLOWN
            items += 1
        if largest == items:
            return largest
        ratio = options.get(L, options.SPARSE_RATIO)
        if ratio <= 0 or largest <= items * ratio:
            return largest
        if largest <= options.get(L, options.SPARSE_SAFE):
            return largest
        if options.get(L, options.SPARSE_CONVERT) == options.ON:
            return AN_OBJECT
        _refuse(L, -1, b"excessively sparse array")
        return FAILED


def _refuse(L: lua.State, at: int, reason: bytes) -> int:
    """Report that this value cannot be encoded."""
    return natives.fail(L, b"Cannot serialise %b: %b" % (natives.type_name(L, at), reason))
