"""A function of a library. It is known without Lua, which may not be loaded yet."""

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
