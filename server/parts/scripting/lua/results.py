"""What a script has returned, as a reply: see the table in values.py."""

from __future__ import annotations

from protocol.encoder import Encoder
from protocol.replies import ErrorReply, Verbatim, one_line
from server.parts.scripting.lua import lua_api as lua
from server.parts.scripting.lua import natives, values
from server.parts.scripting.lua.host import Host
from server.parts.scripting.lua.lua_api import State

DEEPEST = 250  # tables in tables: defends the stack of the process against scripts
COPIED = 4096  # bytes: up to here, a string goes from Lua to the reply at once
BESIDE = 26  # bytes of a bulk string besides its text, at most
ASKED_EVERY = 1000  # values until the host is asked again whether the script may continue

_NOWHERE = Encoder()  # while nothing is written

TOO_DEEP = ErrorReply("ERR", "reached lua stack limit")


class ScriptEnded(Exception):
    """The script was ended before its reply was whole."""


class ResultWriter:
    """Writes what the scripts of *host* return.

    A table that holds itself twice is 2**DEEPEST tables in the reply. So the reply takes
    no more than the values of scripts may, and the script can be ended until its reply is whole.
    That defends the server against scripts.
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self._out = _NOWHERE
        self._script_resp = 2
        self._values = 0

    def write(self, L: State, out: Encoder) -> None:
        """Pop a value and write it to *out*. O(values).

        Raises MemoryError if the reply is too large, ScriptEnded.
        """
        self._out = out
        self._script_resp = self._host.resp
        self._values = 0
        try:
            self._write_value(L, 0)
        finally:
            self._out = _NOWHERE
        lua.pop(L, 1)

    def _write_value(self, L: State, depth: int) -> None:
        """Write the value on top, if the script may continue, and its reply take that much more."""
        out = self._out
        kind = lua.type_at(L, -1)
        size = lua.length(L, -1) if kind == lua.STRING else 0
        if out.size() + size > lua.memory_limit(L):
            raise MemoryError
        self._values += 1
        if self._values % ASKED_EVERY == 0 and self._host.must_end():
            raise ScriptEnded
        if kind == lua.STRING and size <= COPIED:
            out.reserve(size + BESIDE)
            out.end = lua.put_bulk(L, -1, out.buffer, out.end)
        elif kind == lua.STRING:
            out.bulk(lua.to_bytes(L, -1))
        elif kind == lua.NUMBER:
            out.integer(values.whole(lua.to_number(L, -1)))
        elif kind == lua.TABLE:
            if depth >= DEEPEST or not lua.has_room(L, values.ROOM):
                self._write_error(TOO_DEEP, False)
            else:
                self._write_table(L, depth + 1)
        elif kind == lua.BOOLEAN and (self._script_resp == 3 or lua.to_boolean(L, -1)):
            out.write(lua.to_boolean(L, -1) if self._script_resp == 3 else 1)
        else:
            out.null()

    def _write_table(self, L: State, depth: int) -> None:
        """Write a table: what the first field of this order says that it has, or else an array."""
        out = self._out
        if self._has(L, b"err", lua.STRING):
            error = error_of(self._take_text(L))
            lua.get_field(L, -1, values.IS_COUNTED)
            is_counted = lua.to_boolean(L, -1)
            lua.pop(L, 1)
            self._write_error(error, is_counted)
        elif self._has(L, b"ok", lua.STRING):
            out.status(self._take_text(L))
        elif self._has(L, b"double", lua.NUMBER):
            out.real(lua.to_number(L, -1))
            lua.pop(L, 1)
        elif self._has(L, b"map", lua.TABLE):
            self._write_map(L, depth)
        elif self._has(L, b"set", lua.TABLE):
            self._write_set(L, depth)
        elif self._has(L, b"big_number", lua.STRING):
            text = one_line(self._take_text(L))
            if out.resp == 3:
                out.raw(b"(%b\r\n" % text)
            else:
                out.bulk(text)
        elif self._has(L, b"verbatim_string", lua.TABLE):
            if not self._write_verbatim(L):
                self._write_array(L, depth)
        else:
            self._write_array(L, depth)

    def _write_error(self, error: ErrorReply, is_counted: bool) -> None:
        self._out.write(error)
        self._host.error_returned(error, is_counted)

    def _has(self, L: State, name: bytes, kind: int) -> bool:
        """Whether the table on top has such a field; it is on top then."""
        lua.get_field(L, -1, name)
        if lua.type_at(L, -1) == kind:
            return True
        lua.pop(L, 1)
        return False

    def _take_text(self, L: State) -> bytes:
        """Pop a string."""
        text = lua.to_bytes(L, -1)
        lua.pop(L, 1)
        return text

    def _write_array(self, L: State, depth: int) -> None:
        size = 0
        while True:
            lua.get_index(L, -1, size + 1)
            is_end = lua.type_at(L, -1) == lua.NIL
            lua.pop(L, 1)
            if is_end:
                break
            size += 1
        self._out.array(size)
        for index in range(1, size + 1):
            lua.get_index(L, -1, index)
            self._write_value(L, depth)
            lua.pop(L, 1)

    def _write_map(self, L: State, depth: int) -> None:
        """Pop a table, and write its keys and values."""
        self._out.map(natives.count_items(L))
        lua.push_nil(L)
        while lua.next_item(L, -2):
            lua.push_value(L, -2)  # a copy: to read a number as text would change the key
            self._write_value(L, depth)
            lua.pop(L, 1)
            self._write_value(L, depth)
            lua.pop(L, 1)
        lua.pop(L, 1)

    def _write_set(self, L: State, depth: int) -> None:
        """Pop a table, and write its keys."""
        self._out.set(natives.count_items(L))
        lua.push_nil(L)
        while lua.next_item(L, -2):
            lua.pop(L, 1)
            lua.push_value(L, -1)
            self._write_value(L, depth)
            lua.pop(L, 1)
        lua.pop(L, 1)

    def _write_verbatim(self, L: State) -> bool:
        """Pop a table, and write its string and format. False if it lacks one of them."""
        text: bytes | None = self._take_text(L) if self._has(L, b"string", lua.STRING) else None
        form: bytes | None = self._take_text(L) if self._has(L, b"format", lua.STRING) else None
        lua.pop(L, 1)
        if text is None or form is None:
            return False
        self._out.write(Verbatim(text, one_line(form)[:3].ljust(3)))
        return True


def error_of(text: bytes) -> ErrorReply:
    """The error of *text*, whose first word is its code; of one word, it is all there is."""
    whole = text.decode("utf-8", "surrogateescape")
    code, _, rest = whole.partition(" ")
    return ErrorReply(code, rest) if rest else ErrorReply(whole, "")
