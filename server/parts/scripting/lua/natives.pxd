cimport cython
from libc.stdint cimport int64_t

from server.parts.scripting.lua cimport lua_api as lua
from server.parts.scripting.lua.lua_api cimport lua_CFunction, lua_State

cdef bytes NO_MEMORY
cdef tuple TYPES

cdef int fail(lua_State *L, bytes message) except -2
cdef int fail_bare(lua_State *L, bytes message) except -2
cdef int fail_unexpectedly(lua_State *L, object error) noexcept
@cython.locals(name=bytes)
cdef int bad_argument(lua_State *L, int argument, bytes reason) except -2
cdef int wrong_type(lua_State *L, int argument, bytes expected) except -2
cdef bytes type_name(lua_State *L, int at)

@cython.locals(kind=int)
cdef bint is_string(lua_State *L, int at) noexcept

@cython.locals(count=int64_t)
cdef int64_t count_items(lua_State *L) except -1

cdef set_native(lua_State *L, bytes name, lua_CFunction native)
cdef set_text(lua_State *L, bytes name, bytes text)
@cython.locals(number=double)
cdef int to_int(lua_State *L, int at) except? -1
