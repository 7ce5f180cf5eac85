"""The libraries that Redis gives to scripts besides Lua's own: a module for each.

Each has one public function: ``install(L)`` makes the library's table, and puts it into a global of
its name.
"""
