"""All libraries at once."""

from __future__ import annotations

from server.parts.scripting.lua.libraries import bit, cjson, cmsgpack, struct
from server.parts.scripting.lua.lua_api import State


def install(L: State) -> None:
    """Make their tables, as globals."""
    bit.install(L)
    cjson.install(L)
    cmsgpack.install(L)
    struct.install(L)
