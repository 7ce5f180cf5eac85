"""The options of ``cjson``, and the functions by which scripts read and set them.

They are kept in a table of Lua, which is bound to each function of the library; so those of a
library that ``cjson.new`` has made end with it. Booleans are kept as 0 and 1.
"""

from __future__ import annotations

from server.parts.scripting.lua import lua_api as lua
from server.parts.scripting.lua import natives
from server.parts.scripting.lua.libraries import number_octets

# Where each option is in the table.
SPARSE_CONVERT, SPARSE_RATIO, SPARSE_SAFE = 1, 2, 3
ENCODE_DEPTH, ENCODE_INVALID, PRECISION, KEEP_BUFFER = 4, 5, 6, 7
DECODE_DEPTH, DECODE_INVALID, DECODE_MARKS = 8, 9, 10
DEFAULTS = (0, 2, 10, 1000, 0, 14, 1, 1000, 1, 0)
MARK = b"__is_cjson_array"  # in the metatable of an array, if arrays are marked

OFF, ON, NULL = 0, 1, 2  # what ENCODE_INVALID may be
SWITCH = (b"off", b"on")
INVALID = (b"off", b"on", b"null")
LARGEST = 2**31 - 1
MOST_DIGITS = 14


def push_defaults(L: lua.State) -> None:
    """Push a new table of options."""
    lua.create_table(L, len(DEFAULTS), 0)
    for option, value in enumerate(DEFAULTS, 1):
        lua.push_number(L, value)
        lua.set_index(L, -2, option)


def get(L: lua.State, option: int) -> int:
    """The value of *option*, for the native that runs."""
    lua.get_index(L, lua.BOUND, option)
    value = number_octets.truncated(lua.to_number(L, -1))
    lua.pop(L, 1)
    return value


def _set(L: lua.State, option: int, value: int) -> None:
    lua.push_number(L, value)
    lua.set_index(L, lua.BOUND, option)


# ---------------------------------------------------------------------- arguments


def _take(L: lua.State, most: int) -> int:
    """Take at most so many arguments: those that are missing are nil."""
    if lua.top(L) > most:
        return natives.bad_argument(L, most + 1, b"found too many arguments")
    lua.set_top(L, most)
    return 0


def _number(L: lua.State, argument: int, option: int, least: int, most: int) -> int:
    """Set *option* to the argument, if there is one, and push what it is. 1, or -1."""
    if lua.type_at(L, argument) != lua.NIL:
        if not lua.is_number(L, argument):
            return natives.wrong_type(L, argument, b"number")
        value = number_octets.truncated(lua.to_number(L, argument))
        value = number_octets.signed_32(value & 0xFFFF_FFFF)
        if not least <= value <= most:
            return natives.bad_argument(L, 1, b"expected integer between %d and %d" % (least, most))
        _set(L, option, value)
    lua.push_number(L, get(L, option))
    return 1


def _choice(L: lua.State, argument: int, option: int, words: tuple[bytes, ...]) -> int:
    """Set *option* to one of *words*, or by a boolean to one of the first two. 1, or -1."""
    kind = lua.type_at(L, argument)
    if kind == lua.BOOLEAN:
        _set(L, option, 1 if lua.to_boolean(L, argument) else 0)
    elif kind != lua.NIL:
        if not natives.is_string(L, argument):
            return natives.wrong_type(L, argument, b"string")
        word = lua.to_bytes(L, argument).partition(b"\0")[0]
        if word not in words:
            return natives.bad_argument(L, argument, b"invalid option '%b'" % word)
        _set(L, option, words.index(word))
    value = get(L, option)
    if value in {OFF, ON}:
        lua.push_boolean(L, value == ON)
    else:
        lua.push_bytes(L, words[value])
    return 1


def _number_alone(L: lua.State, option: int, most: int) -> int:
    return -1 if _take(L, 1) < 0 else _number(L, 1, option, 1, most)


def _choice_alone(L: lua.State, option: int, words: tuple[bytes, ...]) -> int:
    return -1 if _take(L, 1) < 0 else _choice(L, 1, option, words)


# ---------------------------------------------------------------------- functions of the library


def encode_sparse_array(L: lua.State) -> int:
    """encode_sparse_array([convert, [ratio, [safe]]]): which arrays have too many holes.

    Those with more than *safe* items, of which less than one in *ratio* is there (0: none has too
    many). They are refused, or with *convert* encoded as objects.
    """
    try:
        if _take(L, 3) < 0 or _choice(L, 1, SPARSE_CONVERT, SWITCH) < 0:
            return -1
        if _number(L, 2, SPARSE_RATIO, 0, LARGEST) < 0:
            return -1
        return -1 if _number(L, 3, SPARSE_SAFE, 0, LARGEST) < 0 else 3
    except Exception as error:
        return natives.fail_unexpectedly(L, error)


def encode_max_depth(L: lua.State) -> int:
    """encode_max_depth([depth]): how many tables may be within each other."""
    try:
        return _number_alone(L, ENCODE_DEPTH, LARGEST)
    except Exception as error:
        return natives.fail_unexpectedly(L, error)


def decode_max_depth(L: lua.State) -> int:
    """decode_max_depth([depth]): how many arrays and objects may be within each other."""
    try:
        return _number_alone(L, DECODE_DEPTH, LARGEST)
    except Exception as error:
        return natives.fail_unexpectedly(L, error)


def encode_number_precision(L: lua.State) -> int:
    """encode_number_precision([digits]): how many digits numbers have."""
    try:
        return _number_alone(L, PRECISION, MOST_DIGITS)
    except Exception as error:
        return natives.fail_unexpectedly(L, error)


def encode_keep_buffer(L: lua.State) -> int:
    """encode_keep_buffer([keep]): without effect here, since no buffer is kept."""
    try:
        return _choice_alone(L, KEEP_BUFFER, SWITCH)
    except Exception as error:
        return natives.fail_unexpectedly(L, error)


def encode_invalid_numbers(L: lua.State) -> int:
    """encode_invalid_numbers([how]): infinities are refused, written, or written as null."""
    try:
        return _choice_alone(L, ENCODE_INVALID, INVALID)
    except Exception as error:
        return natives.fail_unexpectedly(L, error)


def decode_invalid_numbers(L: lua.State) -> int:
    """decode_invalid_numbers([accept]): infinities, hexadecimal numbers, leading zeros."""
    try:
        return _choice_alone(L, DECODE_INVALID, SWITCH)
    except Exception as error:
        return natives.fail_unexpectedly(L, error)


def decode_array_with_array_mt(L: lua.State) -> int:
    """decode_array_with_array_mt([mark]): whether arrays are marked, so that they stay arrays."""
    try:
        return _choice_alone(L, DECODE_MARKS, SWITCH)
    except Exception as error:
        return natives.fail_unexpectedly(L, error)


def mark_array(L: lua.State) -> None:
    """Mark the table on top as an array: encode() writes it as one, also if it is empty."""
    lua.create_table(L, 0, 1)
    lua.push_boolean(L, True)
    lua.set_field(L, -2, MARK)
    lua.set_metatable(L, -2)


def is_marked(L: lua.State) -> bool:
    """Whether the table on top is marked as an array."""
    if not lua.push_metatable(L, -1):
        return False
    lua.get_field(L, -1, MARK)
    marked = lua.to_boolean(L, -1)
    lua.pop(L, 2)
    return marked


def install(L: lua.State, options: int) -> None:
    """Put these functions into the table on top; they are about the table of options there."""
    set_bound(L, options, b"encode_sparse_array", encode_sparse_array)
    set_bound(L, options, b"encode_max_depth", encode_max_depth)
    set_bound(L, options, b"decode_max_depth", decode_max_depth)
    set_bound(L, options, b"encode_number_precision", encode_number_precision)
    set_bound(L, options, b"encode_keep_buffer", encode_keep_buffer)
    set_bound(L, options, b"encode_invalid_numbers", encode_invalid_numbers)
    set_bound(L, options, b"decode_invalid_numbers", decode_invalid_numbers)
    set_bound(L, options, b"decode_array_with_array_mt", decode_array_with_array_mt)


def set_bound(L: lua.State, options: int, name: bytes, native: lua.Native) -> None:
    """Put *native* into the table on top, bound to the table of options."""
    lua.push_value(L, options)
    lua.push_native_with(L, native)
    lua.set_field(L, -2, name)
