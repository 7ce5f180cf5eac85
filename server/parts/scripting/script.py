"""Scripts and functions that were compiled, where they are found, and what runs them.

All of it is known without Lua, which may not be loaded yet.
"""

from __future__ import annotations

from protocol.encoder import Encoder
from server.client.client import Client

FIRST_KEY = 3  # where the keys begin in EVAL script numkeys [key ...] [arg ...], and in FCALL
SHA_CHARACTERS = 40  # of a SHA-1 in hex digits


class Script:
    """A script that was compiled: *ref* is where the interpreter has it."""

    __slots__ = ("flags", "is_loaded", "ref", "sha", "source")

    def __init__(self, sha: bytes, source: bytes, ref: int, flags: int) -> None:
        self.sha = sha
        self.source = source
        self.ref = ref
        self.flags = flags
        self.is_loaded = False  # by SCRIPT LOAD


class ScriptTable:
    """Where scripts are found."""

    __slots__ = ()

    def known_by(self, sha: bytes) -> Script | None:
        """The script of that SHA-1, in upper or lower case. O(1)"""
        raise NotImplementedError

    def compiled(self, source: bytes) -> Script:
        """The script of that text, for EVAL. Raises ErrorReply if it cannot be compiled."""
        raise NotImplementedError


class Function:
    """One function: *ref* is where the interpreter has it, *library* the name of its library."""

    __slots__ = ("description", "flags", "library", "name", "ref")

    def __init__(
        self, name: bytes, ref: int, flags: int, description: bytes | None, library: bytes
    ) -> None:
        self.name = name
        self.ref = ref
        self.flags = flags
        self.description = description
        self.library = library


class FunctionTable:
    """All functions, by name in lower case."""

    __slots__ = ("_last", "functions")

    def __init__(self) -> None:
        self.functions: dict[bytes, Function] = {}
        self._last: Function | None = None  # that was found last: it may be called in a row

    def named(self, name: bytes) -> Function | None:
        """The function of that name, in upper or lower case. O(1)"""
        last = self._last
        if last is not None and name == last.name:
            return last
        self._last = self.functions.get(name.lower())
        return self._last

    def forget_last(self) -> None:
        """To be called when functions have gone."""
        self._last = None


class Engine:
    """Runs what was compiled."""

    __slots__ = ()

    def run_for(
        self,
        client: Client,
        argv: list[bytes],
        name: bytes,
        flags: int,
        ref: int,
        keys: int,
        is_function: bool,
    ) -> Encoder:
        """Run what *ref* refers to for *client*, whose command is *argv*: its result.

        So many *keys* are among its words. The result is there until the next one runs. Raises
        ErrorReply. What the script has chosen (database, protocol) ends with it.
        """
        raise NotImplementedError
