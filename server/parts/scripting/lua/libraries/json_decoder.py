"""JSON as a value of Lua, with the words and limits of lua-cjson 2.1.

What it accepts beyond JSON is what lua-cjson accepts: all numbers that C's strtod reads, unless an
option forbids it, and anything after a zero byte, which ends the text. What is nested is bounded by
an option (1000) and by Lua's stack, not by recursion.
"""

from __future__ import annotations

from server.parts.scripting.lua import lua_api as lua
from server.parts.scripting.lua import natives
from server.parts.scripting.lua.libraries import cjson_options as options
from server.parts.scripting.lua.libraries import number_octets, text_octets
from server.parts.scripting.lua.libraries.output import Output

# Kinds of tokens.
OBJECT, OBJECT_END, ARRAY, ARRAY_END, STRING, NUMBER = range(6)
BOOLEAN, NULL, COLON, COMMA, END, WRONG = range(6, 12)
NAMES = (
    b"T_OBJ_BEGIN", b"T_OBJ_END", b"T_ARR_BEGIN", b"T_ARR_END", b"T_STRING", b"T_NUMBER",
    b"T_BOOLEAN", b"T_NULL", b"T_COLON", b"T_COMMA", b"T_END",
)  # fmt: skip

# Bytes that tokens begin with.
(LEFT_BRACE, RIGHT_BRACE, LEFT_BRACKET, RIGHT_BRACKET, A_COLON, A_COMMA, QUOTE, BACKSLASH,
 PLUS, MINUS, DIGIT_0, DIGIT_9, LETTER_U) = b'{}[]:,"\\+-09u'  # fmt: skip
ESCAPES = {
    ord('"'): 34, ord("\\"): 92, ord("/"): 47, ord("b"): 8, ord("t"): 9, ord("n"): 10,
    ord("f"): 12, ord("r"): 13,
}  # fmt: skip

INVALID_NUMBER = b"invalid number"
INVALID_TOKEN = b"invalid token"


class JsonDecoder:
    """Reads *text*, token by token.

    Of the last token it knows what it is, where it begins, and its number or where its string is.
    """

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.at = 0
        self.token = END
        self.token_at = 0
        self.number = 0.0
        self.start = 0  # of a string without escapes; of others, -1
        self.end = 0
        self.unescaped = Output()
        self.wrong = b""  # what is wrong with it
        self.accepts_invalid = True

    # ------------------------------------------------------------------ values

    def read(self, L: lua.State) -> int:
        """Push the value. -1 if it is none, which is reported.

        The stack holds the tables that are being filled, and above each object the next key.
        """
        self.unescaped.L = L
        self.accepts_invalid = options.get(L, options.DECODE_INVALID) != options.OFF
        marks = options.get(L, options.DECODE_MARKS) == options.ON
        room = 4 if marks else 2  # of the stack, for an array
        most = options.get(L, options.DECODE_DEPTH)
        outer: list[int] = []  # index of the tables that this table is in
        index = 0  # of the next value in an array; 0 in an object
        self._next()
        while True:
            if not lua.has_memory(L, 0):  # each byte may become a table of many
                raise MemoryError
            token = self.token
            if token in {OBJECT, ARRAY}:
                if len(outer) >= most or not lua.has_room(L, room if token == ARRAY else 3):
                    text = b"Found too many nested data structures (%d) at character %d"
                    return natives.fail(L, text % (len(outer) + 1, self.at))
                lua.create_table(L, 0, 0)
                if marks and token == ARRAY:
                    options.mark_array(L)
                self._next()
                if self.token != token + 1:
                    outer.append(index)
                    index = 1 if token == ARRAY else 0
                    if index == 0 and self._read_key(L) < 0:
                        return -1
                    continue
            elif self._push_plain(L, token) < 0:
                return -1
            while True:  # put the value into its table, and this one, if it is whole, into its own
                if not outer:
                    return 0
                self._next()
                if index:
                    lua.set_index(L, -2, index)
                    if self.token == COMMA:
                        index += 1
                        self._next()
                        break
                    if self.token != ARRAY_END:
                        return self._refuse(L, b"comma or array end")
                else:
                    lua.raw_set(L, -3)
                    if self.token == COMMA:
                        self._next()
                        if self._read_key(L) < 0:
                            return -1
                        break
                    if self.token != OBJECT_END:
                        return self._refuse(L, b"comma or object end")
                index = outer.pop()

    def read_end(self, L: lua.State) -> int:
        """Read on to the end. -1 if anything else is there, which is reported."""
        self._next()
        return 0 if self.token == END else self._refuse(L, b"the end")

    def _refuse(self, L: lua.State, expected: bytes) -> int:
        """Report that the token is not what was expected."""
        found = self.wrong if self.token == WRONG else NAMES[self.token]
        text = b"Expected %b but found %b at character %d"
        return natives.fail(L, text % (expected, found, self.token_at + 1))

    def _push_plain(self, L: lua.State, token: int) -> int:
        """Push a value that is one token."""
        if token == STRING:
            self._push_string(L)
        elif token == NUMBER:
            lua.push_number(L, self.number)
        elif token == BOOLEAN:
            lua.push_boolean(L, self.number != 0)
        elif token == NULL:
            lua.push_address(L, 0)
        else:
            return self._refuse(L, b"value")
        return 0

    def _push_string(self, L: lua.State) -> None:
        if self.start >= 0:
            lua.push_slice(L, self.text, self.start, self.end)
        else:
            self.unescaped.push()

    def _read_key(self, L: lua.State) -> int:
        """Push the key that is the token, and read on to the token of its value."""
        if self.token != STRING:
            return self._refuse(L, b"object key string")
        self._push_string(L)
        self._next()
        if self.token != COLON:
            return self._refuse(L, b"colon")
        self._next()
        return 0

    # ------------------------------------------------------------------ tokens

    def _next(self) -> None:
        """Read the next token."""
        at = text_octets.blank_end(self.text, self.at)
        self.token_at = at
        self.at = at + 1
        byte = text_octets.byte_at(self.text, at)
        if byte == QUOTE:
            self._read_string()
        elif byte == MINUS or DIGIT_0 <= byte <= DIGIT_9:
            self._read_number(at, self.accepts_invalid or not _is_invalid_number(self.text, at))
        elif byte == A_COMMA:
            self.token = COMMA
        elif byte == A_COLON:
            self.token = COLON
        elif byte == LEFT_BRACE:
            self.token = OBJECT
        elif byte == RIGHT_BRACE:
            self.token = OBJECT_END
        elif byte == LEFT_BRACKET:
            self.token = ARRAY
        elif byte == RIGHT_BRACKET:
            self.token = ARRAY_END
        elif byte == 0:
            self.token = END
            self.at = at
        else:
            self._read_word(at)

    def _refuse_token(self, at: int, wrong: bytes) -> None:
        """What stands *at* is not a token."""
        self.token = WRONG
        self.token_at = self.at = at
        self.wrong = wrong

    def _read_word(self, at: int) -> None:
        if text_octets.starts_with(self.text, at, b"true"):
            self.token = BOOLEAN
            self.number = 1
            self.at = at + 4
        elif text_octets.starts_with(self.text, at, b"false"):
            self.token = BOOLEAN
            self.number = 0
            self.at = at + 5
        elif text_octets.starts_with(self.text, at, b"null"):
            self.token = NULL
            self.at = at + 4
        elif self.accepts_invalid and _is_invalid_number(self.text, at):
            self._read_number(at, True)
        else:
            self._refuse_token(at, INVALID_TOKEN)

    def _read_number(self, at: int, accepted: bool) -> None:
        number = [0.0]
        end = number_octets.read_decimal(self.text, at, number)
        if end == at or not accepted:
            self._refuse_token(at, INVALID_NUMBER)
            return
        self.token = NUMBER
        self.number = number[0]
        self.at = end

    def _read_string(self) -> None:
        """Read a string. What is wrong with it is said to be where it is found."""
        start = self.at
        end = text_octets.plain_end(self.text, start)
        self.token = STRING
        if text_octets.byte_at(self.text, end) == QUOTE:
            self.start = start
            self.end = end
            self.at = end + 1
        else:
            self.start = -1
            self._unescape(start, end)

    def _unescape(self, start: int, end: int) -> None:
        """Read a string whose first part without escapes is given."""
        self.unescaped.end = 0
        while True:
            self.unescaped.slice(self.text, start, end)
            byte = text_octets.byte_at(self.text, end)
            if byte == QUOTE:
                self.at = end + 1
                return
            if byte != BACKSLASH:
                self._refuse_token(end, b"unexpected end of string")
                return
            byte = text_octets.byte_at(self.text, end + 1)
            if byte == LETTER_U:
                start = self._unescape_unicode(end)
                if start < 0:
                    self._refuse_token(end, b"invalid unicode escape code")
                    return
            elif byte in ESCAPES:
                self.unescaped.byte(ESCAPES[byte])
                start = end + 2
            else:
                self._refuse_token(end, b"invalid escape code")
                return
            end = text_octets.plain_end(self.text, start)

    def _unescape_unicode(self, at: int) -> int:
        r"""Read ``\uXXXX``, or two of them that are one character. Where it ends; -1 if wrong."""
        code = self._four_digits(at + 2)
        if code < 0:
            return -1
        at += 6
        if code & 0xF800 == 0xD800:
            if code & 0x400 or not text_octets.starts_with(self.text, at, b"\\u"):
                return -1
            low = self._four_digits(at + 2)
            if low < 0 or low & 0xFC00 != 0xDC00:
                return -1
            code = 0x10000 + ((code & 0x3FF) << 10 | low & 0x3FF)
            at += 6
        self._write_utf8(code)
        return at

    def _four_digits(self, at: int) -> int:
        """The hexadecimal number of four digits there; -1 if it is none."""
        number = 0
        for i in range(4):
            digit = text_octets.hex_digit(self.text, at + i)
            if digit < 0:
                return -1
            number = number << 4 | digit
        return number

    def _write_utf8(self, code: int) -> None:
        out = self.unescaped
        if code < 0x80:
            out.byte(code)
            return
        if code < 0x800:
            out.byte(0xC0 | code >> 6)
        else:
            if code < 0x10000:
                out.byte(0xE0 | code >> 12)
            else:
                out.byte(0xF0 | code >> 18)
                out.byte(0x80 | code >> 12 & 0x3F)
            out.byte(0x80 | code >> 6 & 0x3F)
        out.byte(0x80 | code & 0x3F)


def _is_invalid_number(text: bytes, at: int) -> bool:
    """Whether what begins there may be a number for C, but is none in JSON."""
    first = text_octets.byte_at(text, at)
    if first == PLUS:
        return True
    if first == MINUS:
        at += 1
        first = text_octets.byte_at(text, at)
    if first == DIGIT_0:
        second = text_octets.byte_at(text, at + 1)
        return second in {120, 88} or DIGIT_0 <= second <= DIGIT_9  # x, X
    if first <= DIGIT_9:
        return False
    return text[at : at + 3].lower() in {b"inf", b"nan"}
