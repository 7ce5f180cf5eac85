"""All of them at once."""

from __future__ import annotations

from server.lua import lua_api as lua
from server.lua.lua_api import State


def install(L: State) -> None:
    """Make their tables, as globals."""
    for name in (b"bit", b"cjson", b"cmsgpack", b"struct"):
        lua.create_table(L, 0, 0)
        lua.set_field(L, lua.GLOBALS, name)
