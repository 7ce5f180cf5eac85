"""Values between Lua and RESP, as Redis converts them (redis.io, "Lua API reference").

    RESP                     Lua                       RESP
    :1                       number                    :1, truncated to an integer
    $ bulk string            string                    $ bulk string
    * array                  table                     * array, up to the first nil
    + status                 {ok = text}               + status
    - error                  {err = text}              - error
    null                     false; nil in RESP3       null, from nil and false
    # boolean                boolean                   :1 or null from true and false; # in RESP3
    , double                 {double = number}         , double
    % map, ~ set             {map = ..}, {set = ..}    % map, ~ set
    ( big number             {big_number = text}       ( big number
    = verbatim string        {verbatim_string = ..}    = verbatim string

A script gets replies in RESP2 unless it has called redis.setresp(3). What it returns is written in
the protocol that its client speaks: results.py. Here is the way to a script, and the words of its
commands.
"""

from __future__ import annotations

import math

from protocol import wire
from protocol.encoder import Encoder, double_text
from protocol.replies import ErrorReply, Reply, Status
from server.parts.scripting.lua import lua_api as lua
from server.parts.scripting.lua.lua_api import State

ROOM = 8  # places on Lua's stack that one level needs

I64_MIN = ~(2**63 - 1)  # what C makes of a number beyond 64 bits
TWO_63 = 9223372036854775808.0

BULK, INTEGER, ARRAY, STATUS, ERROR = b"$:*+-"
NULL, BOOLEAN, DOUBLE, MAP, SET, BIG, VERBATIM = b"_#,%~(="
CR, MINUS, DIGIT_0 = b"\r-0"
IS_COUNTED = b"ignore_error_stats_update"  # of an error: its statistics are up to date
NO_WORDS: list[bytes] = []
KEPT_WORDS = 8  # of a command, for the next script; more, or longer ones, are not kept
KEPT_BYTES = 64
EXACT = 2**52  # up to here, integers are written digit by digit


_last_words = NO_WORDS  # of the command that the running script has called last
_has_long_words = False  # these, or those of a command before, take much memory
_expected = b""  # a word of the command that runs the script

# ---------------------------------------------------------------------- to a script


def push_reply(L: State, reply: Reply, resp: int) -> bool:
    """Push what a command has answered, as a script sees it in protocol *resp*. O(values).

    False if that is an error.
    """
    if type(reply) is bytes:
        lua.push_bytes(L, reply)
    elif type(reply) is int:
        lua.push_number(L, reply)
    elif reply is None:
        _push_null(L, resp)
    elif type(reply) is Status:
        line = reply.line
        _push_named(L, b"ok", line, 1, len(line) - 2)
    elif isinstance(reply, ErrorReply):
        push_error(L, str(reply).encode("utf-8", "surrogateescape"))
        return False
    else:  # it is written, and read again
        if type(reply) is Encoder:
            out = reply
        else:
            out = Encoder(resp)
            out.write(reply)
        _push_next(L, out.take(), 0, resp)
    return True


def _push_null(L: State, resp: int) -> None:
    if resp == 3:
        lua.push_nil(L)
    else:
        lua.push_boolean(L, False)


def _push_named(L: State, name: bytes, text: bytes, start: int, end: int) -> None:
    """Push a table with one field, whose value is that part of *text*."""
    lua.create_table(L, 0, 1)
    lua.push_slice(L, text, start, end)
    lua.set_field(L, -2, name)


def _push_next(L: State, data: bytes, at: int, resp: int) -> int:
    """Push the value that begins at *at* of what our own encoder wrote; where the next begins."""
    lua.has_room(L, ROOM)
    mark = data[at]
    end = at
    while data[end] != CR:
        end += 1
    if mark in (BULK, VERBATIM):
        size = _number(data, at + 1, end)
        if size < 0:
            _push_null(L, resp)
            return end + 2
        start = end + 2
        if mark == VERBATIM:
            _push_verbatim(L, data, start, start + size)
        else:
            lua.push_slice(L, data, start, start + size)
        return start + size + 2
    if mark == INTEGER:
        lua.push_number(L, _number(data, at + 1, end))
    elif mark == ARRAY:
        return _push_array(L, data, _number(data, at + 1, end), end + 2, resp)
    elif mark in (MAP, SET):
        return _push_pairs(L, data, _number(data, at + 1, end), end + 2, resp, mark == MAP)
    else:
        _push_line(L, data, mark, at + 1, end, resp)
    return end + 2


def _number(data: bytes, start: int, end: int) -> int:
    """The number that stands there, in decimal digits."""
    is_negative = data[start] == MINUS
    number = 0
    for at in range(start + is_negative, end):
        number = number * 10 + (data[at] - DIGIT_0)
    return -number if is_negative else number


def _push_line(L: State, data: bytes, mark: int, start: int, end: int, resp: int) -> None:
    """Push a value that is one line."""
    if mark == STATUS:
        _push_named(L, b"ok", data, start, end)
    elif mark == ERROR:
        push_error(L, data[start:end])
    elif mark == BOOLEAN:
        lua.push_boolean(L, data[start:end] == b"t")
    elif mark == DOUBLE:
        lua.create_table(L, 0, 1)
        lua.push_number(L, float(data[start:end]))
        lua.set_field(L, -2, b"double")
    elif mark == BIG:
        _push_named(L, b"big_number", data, start, end)
    else:
        _push_null(L, resp)


def _push_array(L: State, data: bytes, size: int, at: int, resp: int) -> int:
    """Push a table of the *size* values from *at*; RESP2's null array is false."""
    if size < 0:
        _push_null(L, resp)
        return at
    lua.create_table(L, size, 0)
    for index in range(1, size + 1):
        at = _push_next(L, data, at, resp)
        lua.set_index(L, -2, index)
    return at


def _push_pairs(L: State, data: bytes, size: int, at: int, resp: int, is_map: bool) -> int:
    """Push {map = {key = value, ..}} or {set = {member = true, ..}}."""
    lua.create_table(L, 0, 1)
    lua.create_table(L, 0, size)
    for _ in range(size):
        at = _push_next(L, data, at, resp)
        if is_map:
            at = _push_next(L, data, at, resp)
        else:
            lua.push_boolean(L, True)
        lua.raw_set(L, -3)
    lua.set_field(L, -2, b"map" if is_map else b"set")
    return at


def _push_verbatim(L: State, data: bytes, start: int, end: int) -> None:
    """Push {verbatim_string = {format = .., string = ..}} of ``txt:text``."""
    lua.create_table(L, 0, 1)
    _push_named(L, b"format", data, start, start + 3)
    lua.push_slice(L, data, start + 4, end)
    lua.set_field(L, -2, b"string")
    lua.set_field(L, -2, b"verbatim_string")


def push_error(L: State, text: bytes) -> None:
    """Push the table that stands for an error; its statistics have been counted."""
    _push_named(L, b"err", text, 0, len(text))
    lua.push_boolean(L, True)
    lua.set_field(L, -2, IS_COUNTED)


# ---------------------------------------------------------------------- words of a command


def take_words(L: State) -> list[bytes] | None:
    """The arguments of the running native as a command's words; None if one is not a text.

    A word that the command before had in the same place, as in a loop or when a script runs again,
    is that very object, and so is the one that the script is expected to use. So is the list, if
    its last taker has dropped it.
    """
    global _last_words, _has_long_words  # noqa: PLW0603
    last, known, count = _last_words, len(_last_words), lua.top(L)
    words = wire.room_for(last, count)
    if count > KEPT_WORDS:
        _has_long_words = True
    for index in range(count):
        kind = lua.type_at(L, index + 1)
        if kind == lua.STRING:
            word = last[index] if index < known else b""
            if not lua.holds(L, index + 1, word):
                word = _expected
                if not lua.holds(L, index + 1, word):
                    word = lua.to_bytes(L, index + 1)
                if len(word) > KEPT_BYTES:
                    _has_long_words = True
            words[index] = word
        elif kind == lua.NUMBER:
            words[index] = number_text(lua.to_number(L, index + 1))
        else:
            return None
    _last_words = words
    return words


def expect(word: bytes) -> None:
    """A script begins, whose commands are likely to have *word* among theirs: its first key."""
    global _expected  # noqa: PLW0603
    _expected = word


def script_ended() -> None:
    """A script is over: let go of its first key, and of its last command's words if they are long.

    Short ones stay for the next script, which may be the same.
    """
    global _expected, _last_words, _has_long_words  # noqa: PLW0603
    _expected = b""
    if _has_long_words:
        _last_words = NO_WORDS
        _has_long_words = False


def whole(number: float) -> int:
    """*number* without what is after the point; as C has it where it is beyond 64 bits."""
    if -TWO_63 <= number < TWO_63:
        return int(number)
    return I64_MIN


def number_text(number: float) -> bytes:
    """*number* as it becomes a word of a command: as short as can be, without loss."""
    integer = whole(number)
    if integer == number and -EXACT <= integer <= EXACT:
        return b"%d" % integer
    if math.isnan(number):
        return b"-nan" if math.copysign(1, number) < 0 else b"nan"
    return double_text(number)
