"""Lua is loaded before the modules that call it."""

from server.parts.scripting.lua import lua_library  # noqa: F401
