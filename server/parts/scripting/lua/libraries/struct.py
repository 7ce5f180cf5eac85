"""The library ``struct``: values packed into strings as a C compiler lays them out.

A format is a sequence of options; *n* is a decimal number:

    <  >          little endian (as at the start), big endian
    !n            from here on align to multiples of at most *n* (8); at the start there is none
    b h i l       signed, in 1, 2, 4, 8 bytes; in capitals unsigned; T is the same as L
    in In         in *n* bytes, at most 32
    f d           a number with single or double precision
    cn            *n* bytes of a string (1); c0: all of it, or as many as the value read before says
    s             a string up to its zero byte
    x and space   a zero byte; nothing

Numbers in formats end below 2**31, and sizes are compared with what is left before anything is read
(CVE-2018-12326, CVE-2020-14147, CVE-2021-32626).
"""

from __future__ import annotations

from server.parts.scripting.lua import lua_api as lua
from server.parts.scripting.lua import natives
from server.parts.scripting.lua.libraries import number_octets, text_octets
from server.parts.scripting.lua.libraries.output import Output

MOST_ALIGNED = 8
LARGEST_INTEGER = 32
LARGEST_NUMBER = 2**31 - 1
MASK_64 = 0xFFFF_FFFF_FFFF_FFFF

# What an option is: UNKNOWN ones are letters and digits, CONTROL is all else.
END, CONTROL, UNKNOWN, SIGNED, UNSIGNED, REAL, BYTES, TEXT, PADDING = range(9)
KINDS = bytes(
    SIGNED if option in b"bhli"
    else UNSIGNED if option in b"BHLTI"
    else REAL if option in b"fd"
    else {ord("c"): BYTES, ord("s"): TEXT, ord("x"): PADDING}.get(
        option, UNKNOWN if option < 128 and chr(option).isalnum() else CONTROL
    )
    for option in range(256)
)  # fmt: skip
SIZES = bytes(
    {"b": 1, "h": 2, "l": 8, "t": 8, "f": 4, "d": 8, "x": 1}.get(chr(option).lower(), 0)
    if KINDS[option] >= SIGNED
    else 0
    for option in range(256)
)
A_BYTE, AN_INTEGER, A_NATURAL = b"ciI"  # options with a number
BLANK, LITTLE, BIG, ALIGN = b" <>!"

DATA_TOO_SHORT = b"data string too short"


def install(L: lua.State) -> None:
    """Make the global table ``struct``."""
    lua.create_table(L, 0, 3)
    natives.set_native(L, b"pack", pack)
    natives.set_native(L, b"unpack", unpack)
    natives.set_native(L, b"size", size)
    lua.set_field(L, lua.GLOBALS, b"struct")


# ---------------------------------------------------------------------- formats


class Format:
    """A format that is being read: ``next`` reads an *option*, and *size* is how long it is.

    *big* and *align* are what the options so far have set.
    """

    def __init__(self, text: bytes) -> None:
        self.text = text
        self.at = 0
        self.option = 0
        self.kind = END
        self.size = 0
        self.big = False
        self.align = 1

    def next(self, L: lua.State) -> int:
        """The kind of the next option; END without one; -1 if it is wrong, which is reported."""
        option = text_octets.byte_at(self.text, self.at)
        if option == 0:
            return END
        self.at += 1
        self.option = option
        self.kind = text_octets.byte_at(KINDS, option)
        self.size = text_octets.byte_at(SIZES, option)
        if option in {A_BYTE, AN_INTEGER, A_NATURAL}:
            self.size = self._number(L, 1 if option == A_BYTE else 4)
            if self.size < 0:
                return -1
            if option != A_BYTE and self.size > LARGEST_INTEGER:
                text = b"integral size %d is larger than limit of %d"
                return natives.fail(L, text % (self.size, LARGEST_INTEGER))
        return self.kind

    def _number(self, L: lua.State, default: int) -> int:
        """The number that stands there; -1 if it is too large, which is reported."""
        number = -1
        while 48 <= text_octets.byte_at(self.text, self.at) <= 57:
            number = max(number, 0) * 10 + text_octets.byte_at(self.text, self.at) - 48
            self.at += 1
            if number > LARGEST_NUMBER:
                return natives.fail(L, b"integral size overflow")
        return default if number < 0 else number

    def padding(self, at: int) -> int:
        """How many bytes are left out before the option, if it would begin *at*."""
        if self.size == 0 or self.kind == BYTES:
            return 0
        size = min(self.size, self.align)
        return (size - (at & (size - 1))) & (size - 1)

    def control(self, L: lua.State) -> int:
        """Obey an option that stands for no value. -1 if there is no such, which is reported."""
        option = self.option
        if option in {LITTLE, BIG}:
            self.big = option == BIG
        elif option == ALIGN:
            align = self._number(L, MOST_ALIGNED)
            if align < 0:
                return -1
            if align == 0 or align & (align - 1):
                return natives.fail(L, b"alignment %d is not a power of 2" % align)
            self.align = align
        elif option != BLANK:
            return natives.bad_argument(L, 1, b"invalid format option '%c'" % option)
        return 0


# ---------------------------------------------------------------------- pack


def pack(L: lua.State) -> int:
    """pack(format, value, ...): the values as a string."""
    try:
        if not natives.is_string(L, 1):
            return natives.wrong_type(L, 1, b"string")
        layout = Format(lua.to_bytes(L, 1))
        output = Output()
        output.L = L
        argument = 1
        lua.push_nil(L)  # so that the first missing argument is one, as with Redis
        kind = layout.next(L)
        while kind > END:
            for _ in range(layout.padding(output.end)):
                output.byte(0)
            if SIGNED <= kind <= REAL:
                argument += 1
                if not lua.is_number(L, argument):
                    return natives.wrong_type(L, argument, b"number")
                number = lua.to_number(L, argument)
                if kind == REAL:
                    output.real(number, layout.size, layout.big)
                else:
                    output.integer(number_octets.wrapped(number), layout.size, layout.big)
            elif kind in {BYTES, TEXT}:
                argument += 1
                if _pack_string(L, output, layout, argument) < 0:
                    return -1
            elif kind == PADDING:
                output.byte(0)
            elif layout.control(L) < 0:
                return -1
            kind = layout.next(L)
        return output.push() if kind == END else -1
    except Exception as error:
        return natives.fail_unexpectedly(L, error)


def _pack_string(L: lua.State, output: Output, layout: Format, argument: int) -> int:
    if not natives.is_string(L, argument):
        return natives.wrong_type(L, argument, b"string")
    if lua.type_at(L, argument) == lua.NUMBER:
        lua.to_bytes(L, argument)  # it becomes a string there, and has a length
    length = lua.length(L, argument)
    size = layout.size or length
    if length < size:
        return natives.bad_argument(L, argument + 1, b"string too short")
    output.lua_string(argument, size)
    if layout.kind == TEXT:
        output.byte(0)
    return 0


# ---------------------------------------------------------------------- unpack


def unpack(L: lua.State) -> int:
    """unpack(format, data, [start]): the values, and where the next one would begin."""
    try:
        for argument in (1, 2):
            if not natives.is_string(L, argument):
                return natives.wrong_type(L, argument, b"string")
        at = 1
        if lua.type_at(L, 3) > lua.NIL:
            if not lua.is_number(L, 3):
                return natives.wrong_type(L, 3, b"number")
            at = number_octets.truncated(lua.to_number(L, 3)) & MASK_64
        if at == 0:
            return natives.bad_argument(L, 3, b"offset must be 1 or greater")
        return _unpack_from(L, Format(lua.to_bytes(L, 1)), lua.to_bytes(L, 2), at - 1)
    except Exception as error:
        return natives.fail_unexpectedly(L, error)


def _unpack_from(L: lua.State, layout: Format, data: bytes, at: int) -> int:
    results = 0
    kind = layout.next(L)
    while kind > END:
        at = (at + layout.padding(at)) & MASK_64
        if layout.size > len(data) or at > len(data) - layout.size:
            return natives.bad_argument(L, 2, DATA_TOO_SHORT)
        if not lua.has_room(L, 2):
            return natives.fail(L, b"stack overflow (too many results)")
        if kind in {SIGNED, UNSIGNED}:
            lua.push_number(L, _integer(data, at, layout))
            results += 1
        elif kind == REAL:
            lua.push_number(L, number_octets.real_at(data, at, layout.size, layout.big))
            results += 1
        elif kind == BYTES:
            if layout.size == 0:
                if results == 0 or not lua.is_number(L, -1):
                    return natives.fail(L, b"format 'c0' needs a previous size")
                size = number_octets.wrapped(lua.to_number(L, -1))
                if size > len(data) or at > len(data) - size:
                    return natives.bad_argument(L, 2, DATA_TOO_SHORT)
                layout.size = size
                lua.pop(L, 1)
                results -= 1
            lua.push_slice(L, data, at, at + layout.size)
            results += 1
        elif kind == TEXT:
            end = text_octets.zero_at(data, at)
            if end < 0:
                return natives.fail(L, b"unfinished string in data")
            lua.push_slice(L, data, at, end)
            results += 1
            layout.size = end + 1 - at
        elif kind != PADDING and layout.control(L) < 0:
            return -1
        at += layout.size
        kind = layout.next(L)
    if kind < 0:
        return -1
    lua.push_number(L, number_octets.signed_64(at + 1))
    return results + 1


def _integer(data: bytes, at: int, layout: Format) -> float:
    bits = number_octets.integer_at(data, at, layout.size, layout.big)
    if layout.kind != SIGNED:
        return bits
    sign = MASK_64 << ((8 * layout.size - 1) & 63) & MASK_64
    return number_octets.signed_64(bits | sign if bits & sign else bits)


# ---------------------------------------------------------------------- size


def size(L: lua.State) -> int:
    """size(format): how many bytes pack would give."""
    try:
        if not natives.is_string(L, 1):
            return natives.wrong_type(L, 1, b"string")
        layout = Format(lua.to_bytes(L, 1))
        at = 0
        kind = layout.next(L)
        while kind > END:
            at += layout.padding(at)
            if kind == TEXT:
                return natives.bad_argument(L, 1, b"option 's' has no fixed size")
            if kind == BYTES and layout.size == 0:
                return natives.bad_argument(L, 1, b"option 'c0' has no fixed size")
            if kind == CONTROL and layout.control(L) < 0:
                return -1
            at += layout.size
            kind = layout.next(L)
        if kind < 0:
            return -1
        lua.push_number(L, at)
    except Exception as error:
        return natives.fail_unexpectedly(L, error)
    return 1
