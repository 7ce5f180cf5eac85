"""The libraries of functions that FUNCTION LOAD has brought.

A change is whole or does not happen: a library is loaded beside the others, and enters only when
all its functions are known to be new. Source of the texts: Redis's functions.c.
"""

from __future__ import annotations

from collections.abc import Container

from protocol.replies import ErrorReply
from server.parts.scripting.header import BAD_NAME, FLAGS, is_name, read_library_header
from server.parts.scripting.lua.interpreter import Interpreter, LuaError
from server.parts.scripting.script import Function, FunctionTable
from server.parts.scripting.script_run import ScriptRun

LIBRARY_BYTES = 400  # of a library and its functions besides their text


class Library:
    """A library, and what its text has registered."""

    __slots__ = ("functions", "name", "source")

    def __init__(self, name: bytes, source: bytes) -> None:
        self.name = name
        self.source = source
        self.functions: dict[bytes, Function] = {}

    def register(
        self, name: bytes, ref: int, flags: list[bytes], description: bytes | None
    ) -> None:
        """Enter a function. Raises ErrorReply."""
        if not is_name(name):
            raise BAD_NAME
        bits = 0
        for flag in flags:
            if flag not in FLAGS:
                raise ErrorReply("ERR", "unknown flag given")
            bits |= FLAGS[flag]
        if name in self.functions:
            raise ErrorReply("ERR", "Function already exists in the library")
        self.functions[name] = Function(name, ref, bits, description, self.name)


class FunctionLibraries(FunctionTable):
    """All libraries of *interpreter*, and their functions."""

    __slots__ = ("_interpreter", "_run", "libraries", "memory")

    def __init__(self, interpreter: Interpreter, run: ScriptRun) -> None:
        super().__init__()
        self._interpreter = interpreter
        self._run = run
        self.libraries: dict[bytes, Library] = {}
        self.memory = 0  # bytes of the texts

    @property
    def sources(self) -> list[bytes]:
        """The text of each library: what is saved."""
        return [library.source for library in self.libraries.values()]

    def load(self, source: bytes, replace: bool) -> Library:
        """Load a library; in place of the one of that name, if so. Raises ErrorReply."""
        header = read_library_header(source)
        old = self.libraries.get(header.name)
        if old is not None and not replace:
            raise ErrorReply("ERR", f"Library '{header.name.decode()}' already exists")
        library = Library(header.name, source)
        try:
            self._run_text(library, source[header.start :])
            self._check(library, [library.name])
        except ErrorReply:
            self._free(library)
            raise
        self._enter([library])
        return library

    def load_all(self, sources: list[bytes], replace: bool) -> None:
        """Load them all, or none; in place of those of the same names, if so. Raises ErrorReply.

        O(their texts), however many libraries there are.
        """
        added = FunctionLibraries(self._interpreter, self._run)
        try:
            for source in sources:
                added.load(source, False)
            for library in added.libraries.values():
                if library.name in self.libraries and not replace:
                    raise ErrorReply("ERR", f"Library {library.name.decode()} already exists")
                self._check(library, added.libraries)
        except ErrorReply:
            for library in added.libraries.values():
                self._free(library)
            raise
        self._enter(list(added.libraries.values()))

    def _enter(self, those: list[Library]) -> None:
        """The libraries take their places, and those of the ones of their names."""
        for library in those:
            old = self.libraries.get(library.name)
            if old is not None:
                self._remove(old)
        for library in those:
            self.libraries[library.name] = library
            self.memory += len(library.source) + LIBRARY_BYTES
            for function in library.functions.values():
                self.functions[function.name.lower()] = function

    def delete(self, name: bytes) -> None:
        """Remove the library *name*. Raises ErrorReply."""
        if name not in self.libraries:
            raise ErrorReply("ERR", "Library not found")
        self._remove(self.libraries[name])

    def clear(self) -> None:
        """Forget all of them; the interpreter goes with them."""
        self.libraries.clear()
        self.functions.clear()
        self.forget_last()
        self.memory = 0

    def _run_text(self, library: Library, text: bytes) -> None:
        """Have the text of *library* register its functions."""
        try:
            ref = self._interpreter.compile(text, b"@user_function")
        except LuaError as error:
            raise ErrorReply("ERR", f"Error compiling function: {error}") from None
        self._run.begin_loading(library)
        failure = self._interpreter.load_library(ref)
        is_late = self._run.end_loading()
        self._interpreter.forget(ref)
        if failure is not None:
            shown = b"ERR FUNCTION LOAD timeout" if is_late else failure.text
            raise ErrorReply(
                "ERR", f"Error registering functions: {shown.decode('utf-8', 'surrogateescape')}"
            )

    def _check(self, library: Library, replaced: Container[bytes]) -> None:
        """See that *library* has functions, and none of a library that is not *replaced*."""
        if not library.functions:
            raise ErrorReply("ERR", "No functions registered")
        for name in library.functions:
            known = self.functions.get(name.lower())
            if known is not None and known.library not in replaced:
                raise ErrorReply("ERR", f"Function {name.decode()} already exists")

    def _remove(self, library: Library) -> None:
        del self.libraries[library.name]
        self.memory -= len(library.source) + LIBRARY_BYTES
        for name in library.functions:
            self.functions.pop(name.lower(), None)  # two may differ in their case only
        self.forget_last()
        self._free(library)

    def _free(self, library: Library) -> None:
        for function in library.functions.values():
            self._interpreter.forget(function.ref)
