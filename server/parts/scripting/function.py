"""The functions of libraries. They are known without Lua, which may not be loaded yet."""

from __future__ import annotations


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

    def find(self, name: bytes) -> Function | None:
        """The function of that name, in upper or lower case. O(1)"""
        last = self._last
        if last is not None and name == last.name:
            return last
        self._last = self.functions.get(name.lower())
        return self._last

    def forget_last(self) -> None:
        """To be called when functions have gone."""
        self._last = None
