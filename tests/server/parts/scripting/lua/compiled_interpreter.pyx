"""A bare interpreter of Lua with the four libraries: the compiled ones."""

from server.parts.scripting.lua cimport lua_api as lua
from server.parts.scripting.lua.lua_api cimport lua_State
from server.parts.scripting.lua.libraries cimport bit, cjson, cmsgpack, struct

import server.parts.scripting.lua  # loads the library of Lua


cdef class Interpreter:
    cdef lua_State *L

    def __cinit__(self, size_t limit):
        self.L = lua.open_state(limit)
        lua.open_libraries(self.L)
        bit.install(self.L)
        cjson.install(self.L)
        cmsgpack.install(self.L)
        struct.install(self.L)

    def __dealloc__(self):
        lua.close_state(self.L)

    def run(self, bytes source):
        """What the script returns, as text, or its error."""
        lua.set_top(self.L, 0)
        if lua.load(self.L, source, b"@user_script") == 0:
            lua.call(self.L, 0, 1, 0)
        return lua.to_bytes(self.L, -1)

    def depth(self):
        """How many values are on the stack."""
        return lua.top(self.L)
