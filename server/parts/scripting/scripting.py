"""What the server has of scripts and functions. Lua is loaded when the first of them comes.

Scripts have an interpreter of their own, and functions another one: SCRIPT FLUSH and FUNCTION FLUSH
each start over with theirs.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from protocol.replies import ErrorReply
from server.config.parameters import Config
from server.observe.memory import Memory
from server.observe.part import Part
from server.parts.scripting.header import NO_HEADER, flags_of_call, read_script_header
from server.parts.scripting.script_run import ScriptRun
from server.process import build
from server.table import errors
from server.table.command import Command

if TYPE_CHECKING:
    from server.parts.scripting.function_libraries import FunctionLibraries
    from server.parts.scripting.lua_engine import LuaEngine
    from server.parts.scripting.script_cache import ScriptCache

NO_LUA = "scripts are not available: {}"


MOST_MS = 2**43  # that a script may run before others are told BUSY; in ns it fits 64 bits


class Scripting(Part):
    """All scripts, all functions, and the *run* that is on."""

    __slots__ = ("_limit", "_memory", "_scripts", "opened_functions", "run")

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._limit = 0  # bytes, of the values of each interpreter
        self._scripts: tuple[LuaEngine, ScriptCache] | None = None
        # The engine and the libraries of functions. None: Lua need not be loaded to know of none.
        self.opened_functions: tuple[LuaEngine, FunctionLibraries] | None = None
        self.run = ScriptRun()

    def configured(self, config: Config) -> None:
        self.run.threshold_ns = min(config.busy_reply_threshold, MOST_MS) * 1_000_000
        self._limit = config.lua_memory_limit
        for opened in (self._scripts, self.opened_functions):
            if opened is not None:
                opened[0].interpreter.set_limit(self._limit)

    # ------------------------------------------------------------------ the two interpreters

    def scripts(self) -> tuple[LuaEngine, ScriptCache]:
        """The engine of scripts, and its scripts. Raises ErrorReply without Lua."""
        if self._scripts is None:
            engine = self._open()
            from server.parts.scripting.script_cache import ScriptCache  # noqa: PLC0415  (needs Lua)

            self._scripts = (engine, ScriptCache(engine.interpreter))
        return self._scripts

    def functions(self) -> tuple[LuaEngine, FunctionLibraries]:
        """The engine of functions, and its libraries. Raises ErrorReply without Lua."""
        if self.opened_functions is None:
            self.opened_functions = self.new_functions()
        return self.opened_functions

    def new_functions(self) -> tuple[LuaEngine, FunctionLibraries]:
        """An engine without functions, beside the one that is in use."""
        engine = self._open()
        from server.parts.scripting.function_libraries import (  # noqa: PLC0415  (needs Lua)
            FunctionLibraries,
        )

        return engine, FunctionLibraries(engine.interpreter, self.run)

    def load_stored(self, source: bytes, replaces: bool) -> None:
        """Load a library that was saved; in place of the one of its name, if it *replaces* that.

        Raises ErrorReply.
        """
        self.functions()[1].load(source, replaces)

    def use_functions(self, functions: tuple[LuaEngine, FunctionLibraries] | None) -> None:
        """Have these functions in place of all others; None: have none.

        Raises ErrorReply during a script, which may be one of the old ones.
        """
        self._refuse_amid_script()
        old, self.opened_functions = self.opened_functions, functions
        if old is not None:
            old[0].interpreter.close()
        self.count_memory()

    def flags_of(self, command: Command, argv: list[bytes]) -> int:
        """The flags of *command*, which runs the script that *argv* names, as this one has them.

        One that declares what it does is taken at its word. Source: redis 7.0 and 8.6, observed.
        """
        name, declared = argv[1], NO_HEADER
        if command.name.startswith("fcall"):
            opened = self.opened_functions
            function = None if opened is None else opened[1].named(name)
            if function is not None:
                declared = function.flags
        elif name.startswith(b"#!"):
            with suppress(ErrorReply):  # EVAL will raise it
                declared = read_script_header(name).flags
        elif self._scripts is not None:
            script = self._scripts[1].known_by(name)
            if script is not None:
                declared = script.flags
        return flags_of_call(command.flags, declared)

    def flush_scripts(self) -> None:
        """Forget all scripts. Raises ErrorReply while one of them runs."""
        self._refuse_amid_script()
        old, self._scripts = self._scripts, None
        if old is not None:
            old[0].interpreter.close()
        self.count_memory()

    def _refuse_amid_script(self) -> None:
        """DEBUG can let scripts run any command; what they run in stays nevertheless."""
        if self.run.is_on:
            raise errors.NOT_IN_SCRIPT

    def _open(self) -> LuaEngine:
        try:
            from server.parts.scripting.lua import lua_library  # noqa: F401, PLC0415  (first: see there)
            from server.parts.scripting.lua.interpreter import Interpreter  # noqa: PLC0415
            from server.parts.scripting.lua_engine import LuaEngine  # noqa: PLC0415
        except ImportError as error:
            raise ErrorReply("ERR", NO_LUA.format(error)) from None
        version = build.REDIS_VERSION
        major, minor, patch = (int(number) for number in version.split("."))
        interpreter = Interpreter(
            self.run,
            self._limit,
            {
                b"REDIS_VERSION": version.encode(),
                b"REDIS_VERSION_NUM": major << 16 | minor << 8 | patch,
            },
        )
        return LuaEngine(interpreter, self.run)

    # ------------------------------------------------------------------ what is told of them

    @property
    def library_sources(self) -> list[bytes]:
        """The texts of all libraries: what is saved."""
        return self.opened_functions[1].sources if self.opened_functions is not None else []

    def count_memory(self) -> None:
        """Count what scripts hold now as memory in use."""
        self._memory.scripts = sum(self.memory_of_scripts()) + sum(self.memory_of_functions())

    def tick(self, now_ms: int) -> None:
        if self._scripts is not None or self.opened_functions is not None:
            self.count_memory()

    def memory_of_scripts(self) -> tuple[int, int]:
        """Bytes of the interpreter's values, and of the texts."""
        if self._scripts is None:
            return 0, 0
        return self._scripts[0].interpreter.memory, self._scripts[1].memory

    @property
    def vm_memory(self) -> int:
        """Bytes of the values of both interpreters."""
        return self.memory_of_scripts()[0] + self.memory_of_functions()[0]

    def memory_of_functions(self) -> tuple[int, int]:
        """Bytes of the interpreter's values, and of the texts."""
        if self.opened_functions is None:
            return 0, 0
        return self.opened_functions[0].interpreter.memory, self.opened_functions[1].memory

    def counts(self) -> tuple[int, int, int]:
        """How many scripts there are, how many libraries, and how many functions."""
        scripts = len(self._scripts[1]) if self._scripts is not None else 0
        if self.opened_functions is None:
            return scripts, 0, 0
        return (
            scripts,
            len(self.opened_functions[1].libraries),
            len(self.opened_functions[1].functions),
        )

    @property
    def evicted(self) -> int:
        """How many scripts of EVAL have made room for others."""
        return self._scripts[1].evicted if self._scripts is not None else 0
