"""Scripts that were compiled. They are known without Lua, which may not be loaded yet."""

from __future__ import annotations

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

    def find(self, sha: bytes) -> Script | None:
        """The script of that SHA-1, in upper or lower case. O(1)"""
        raise NotImplementedError

    def get(self, source: bytes) -> Script:
        """The script of that text, for EVAL. Raises ErrorReply if it cannot be compiled."""
        raise NotImplementedError
