"""One interpreter of Lua: scripts or functions, compiled once and called often.

    compile(source, name)   reads a script, and returns a ref to it
    run_script(ref, ...)    runs it; its result, or its error
    load_library(ref)       runs the text of a library, which registers its functions
    run_function(ref, ...)  runs one of these

What scripts do beyond Lua itself is done by a Host: commands, the log, the clock. Scripts run one
at a time, in whichever interpreter. Complexity is that of the script.
"""

from __future__ import annotations

from pathlib import Path

from protocol.encoder import Encoder
from server.parts.scripting.lua import lua_api as lua
from server.parts.scripting.lua import natives, randomness, redis_library, values
from server.parts.scripting.lua.host import Host
from server.parts.scripting.lua.libraries import bit, cjson, cmsgpack, struct
from server.parts.scripting.lua.results import ResultWriter, ScriptEnded

SANDBOX = Path(__file__).with_name("sandbox.lua")
# The recursion of these is that of the pattern.
BOUNDED = (b"find", b"match", b"gmatch", b"gsub", b"gfind")
LONGEST_PATTERN = 8000  # bytes: defends the stack of the process against scripts
# The lowest place for table.insert: it moves all elements after that, and cannot be interrupted.
LOWEST_PLACE = -8000
COUNT = 10_000  # instructions until the host is asked again whether the script may continue
OUT_OF_MEMORY = 4  # lua_pcall's LUA_ERRMEM
BYTECODE = b"\x1b"  # what it begins with


class LuaError(Exception):
    """A script could not be compiled: Lua's text."""


class Failure:
    """What has ended a script: *text* begins with a code; *place* is ``@user_script:1`` or empty.

    An error that is *counted* came from a command, and is in the statistics already.
    """

    __slots__ = ("counted", "place", "text")

    def __init__(self, text: bytes, place: bytes, counted: bool) -> None:
        self.text = text
        self.place = place
        self.counted = counted


class Interpreter:
    """*limit* is how many bytes its scripts may take: it defends the server against them."""

    __slots__ = (
        "_L",
        "_argv_name",
        "_describe",
        "_globals",
        "_host",
        "_keys_name",
        "_loading",
        "_results",
        "_sight",
        "_world",
    )

    def __init__(self, host: Host, limit: int, versions: dict[bytes, bytes | int]) -> None:
        self._host = host
        self._results = ResultWriter(host)
        self._L = lua.open_state(limit)
        if not self._L:
            raise MemoryError
        lua.open_libraries(self._L)
        bit.install(self._L)
        cjson.install(self._L)
        cmsgpack.install(self._L)
        struct.install(self._L)
        self._install_own()
        self._build_world(limit, versions)

    def close(self) -> None:
        """Free all that scripts have left. The interpreter must not be used afterwards."""
        lua.close_state(self._L)

    @property
    def memory(self) -> int:
        """Bytes that its values take."""
        return lua.memory_used(self._L)

    def set_limit(self, limit: int) -> None:
        """Let its scripts take *limit* bytes."""
        lua.set_memory_limit(self._L, limit)

    # ------------------------------------------------------------------ the world of scripts

    def _install_own(self) -> None:
        """Put our versions of some of Lua's functions in the place of these."""
        L = self._L
        lua.get_field(L, lua.GLOBALS, b"math")
        natives.set_native(L, b"random", randomness.math_random)
        natives.set_native(L, b"randomseed", randomness.math_randomseed)
        lua.create_table(L, 0, 1)  # the table ``os``, of which scripts have the clock only
        natives.set_native(L, b"clock", redis_library.os_clock)
        lua.set_field(L, lua.GLOBALS, b"os")
        lua.get_field(L, lua.GLOBALS, b"string")
        for name in BOUNDED:
            lua.get_field(L, -1, name)
            lua.bound_second(L, LONGEST_PATTERN)
            lua.set_field(L, -2, name)
        lua.get_field(L, lua.GLOBALS, b"table")
        lua.get_field(L, -1, b"insert")
        lua.bound_place(L, LOWEST_PLACE)
        lua.set_field(L, -2, b"insert")
        lua.set_top(L, 0)

    def _build_world(self, limit: int, versions: dict[bytes, bytes | int]) -> None:
        """Run the sandbox, and let scripts see what it returns and nothing else."""
        L = self._L
        if lua.load(L, SANDBOX.read_bytes(), b"=sandbox"):
            raise LuaError(lua.to_bytes(L, -1).decode())
        lua.create_table(L, 0, 32)
        redis_library.install(L)
        redis_library.install_common(L, versions)
        lua.create_table(L, 0, 16)
        natives.set_native(L, b"register_function", redis_library.redis_register_function)
        redis_library.install_common(L, versions)
        lua.push_number(L, limit)
        if lua.call(L, 3, 5, 0):
            raise LuaError(lua.to_bytes(L, -1).decode())
        self._describe = lua.make_ref(L)
        self._loading = lua.make_ref(L)
        self._sight = lua.make_ref(L)
        self._world = lua.make_ref(L)
        self._globals = lua.make_ref(L)
        lua.push_bytes(L, b"KEYS")  # a ref to a text is pushed sooner than the text is made again
        self._keys_name = lua.make_ref(L)
        lua.push_bytes(L, b"ARGV")
        self._argv_name = lua.make_ref(L)
        lua.push_ref(L, self._globals)
        lua.replace(L, lua.GLOBALS)
        lua.collect_garbage(L)

    # ------------------------------------------------------------------ scripts

    def compile(self, source: bytes, name: bytes) -> int:
        """Read a script, which errors call *name*; the ref to it. Raises LuaError.

        Only text: bytecode could read and write the memory of the process.
        """
        if source.startswith(BYTECODE):
            raise LuaError(f"{name[1:].decode()}:1: unexpected symbol near 'char(27)'")
        status = lua.load(self._L, source, name)
        if status == OUT_OF_MEMORY:  # of garbage, perhaps: nothing is collected while it reads
            lua.set_top(self._L, 0)
            lua.collect_garbage(self._L)
            status = lua.load(self._L, source, name)
        if status:
            text = lua.to_bytes(self._L, -1)
            lua.set_top(self._L, 0)
            raise LuaError(text.decode("utf-8", "surrogateescape"))
        return lua.make_ref(self._L)

    def forget(self, ref: int) -> None:
        """Free a script or a function."""
        lua.free_ref(self._L, ref)

    def run_script(
        self, ref: int, words: list[bytes], first: int, keys: int, out: Encoder
    ) -> Failure | None:
        """Run a script, and write its result to *out*.

        It finds the *words* from the *first* on in KEYS, so many as there are *keys*, and the rest
        in ARGV.
        """
        L = self._L
        if keys:
            values.expect(words[first])
        lua.push_ref(L, self._describe)
        lua.push_ref(L, self._world)
        lua.push_ref(L, self._keys_name)
        self._push_words(words, first, first + keys)
        lua.raw_set(L, 2)
        lua.push_ref(L, self._argv_name)
        self._push_words(words, first + keys, len(words))
        lua.raw_set(L, 2)
        lua.set_top(L, 1)
        lua.push_ref(L, ref)
        return self._run(0, out)

    def run_function(
        self, ref: int, words: list[bytes], first: int, keys: int, out: Encoder
    ) -> Failure | None:
        """Run a function of a library, and write its result to *out*.

        It is given the *words* from the *first* on: so many as there are *keys*, and the rest.
        """
        if keys:
            values.expect(words[first])
        lua.push_ref(self._L, self._describe)
        lua.push_ref(self._L, ref)
        self._push_words(words, first, first + keys)
        self._push_words(words, first + keys, len(words))
        return self._run(2, out)

    def _push_words(self, words: list[bytes], start: int, end: int) -> None:
        L = self._L
        lua.create_table(L, end - start, 0)
        for at in range(start, end):
            lua.push_bytes(L, words[at])
            lua.set_index(L, -2, at - start + 1)

    def _run(self, arguments: int, out: Encoder) -> Failure | None:
        """Call what lies above the error handler."""
        L = self._L
        self._host.resp = 2
        self._host.ended_at = b""
        failure = self._call(arguments, 1)
        if failure is None:
            try:
                self._results.write(L, out)
            except MemoryError:
                failure = Failure(b"ERR " + natives.NO_MEMORY, b"", False)
            except ScriptEnded:
                failure = Failure(b"", b"", False)  # the host knows why
        lua.set_top(L, 0)
        return failure

    def load_library(self, ref: int) -> Failure | None:
        """Run the text of a library, which tells the host its functions."""
        L = self._L
        lua.push_ref(L, self._describe)
        self._let_see(self._loading)
        lua.push_ref(L, ref)
        try:
            failure = self._call(0, 0)
        finally:
            self._let_see(self._world)
            lua.set_top(L, 0)
        return failure

    def _let_see(self, world: int) -> None:
        """Let the globals be those of the table that the ref *world* refers to."""
        lua.push_ref(self._L, self._sight)
        lua.push_ref(self._L, world)
        lua.set_field(self._L, -2, b"__index")
        lua.pop(self._L, 1)

    def _call(self, arguments: int, results: int) -> Failure | None:
        """Call the function on the stack; the handler of its errors lies at the bottom."""
        outer = redis_library.enter(self._host)
        lua.set_hook(self._L, redis_library.count_reached, COUNT)
        status = lua.call(self._L, arguments, results, 1)
        redis_library.enter(outer)
        values.script_ended()
        if self._host.fault is not None:
            fault, self._host.fault = self._host.fault, None
            lua.set_top(self._L, 0)
            raise fault
        return self._failure(status) if status else None

    def _failure(self, status: int) -> Failure:
        """What the error on top says."""
        L = self._L
        if lua.type_at(L, -1) != lua.TABLE:
            text = lua.to_bytes(L, -1) if lua.type_at(L, -1) == lua.STRING else b"unknown error"
            if status == OUT_OF_MEMORY:
                lua.collect_garbage(L)
            where = self._host.ended_at.rstrip(b": ")  # ``user_script:1: ``
            return Failure(b"ERR " + text, b"@" + where if where else b"", False)
        text = self._text_field(b"err") or b"ERR unknown error"
        place = b""
        source, line = self._text_field(b"source"), self._text_field(b"line")
        if source is not None and line is not None:
            place = source + b":" + line
        lua.get_field(L, -1, b"ignore_error_stats_update")
        counted = lua.to_boolean(L, -1)
        lua.pop(L, 1)
        return Failure(text, place, counted)

    def _text_field(self, name: bytes) -> bytes | None:
        """A field of the table on top, as text."""
        lua.get_field(self._L, -1, name)
        kind = lua.type_at(self._L, -1)
        text = lua.to_bytes(self._L, -1) if kind in (lua.STRING, lua.NUMBER) else None
        lua.pop(self._L, 1)
        return text
