cimport cython

from server.parts.scripting.lua cimport lua_api as lua
from server.parts.scripting.lua cimport redis_library
from server.parts.scripting.lua.lua_api cimport lua_State

cdef int install(lua_State *L) except -1
@cython.locals(ref=int)
cdef int redis_register_function(lua_State *L) noexcept
cdef tuple _take_two(lua_State *L)
cdef tuple _take_named(lua_State *L)
cdef bytes _text_argument(lua_State *L, str name)
@cython.locals(kind=int)
cdef list _take_flags(lua_State *L)
