cimport cython
from libc.stdint cimport int64_t, uint64_t

from server.parts.scripting.lua cimport lua_api as lua
from server.parts.scripting.lua cimport natives
from server.parts.scripting.lua.lua_api cimport lua_State

cdef uint64_t FACTOR
cdef uint64_t ADDEND
cdef uint64_t MASK
cdef uint64_t LOW
cdef int64_t MOST
cdef uint64_t _number

cdef int seed(int64_t number) except -1
cpdef int64_t next_number() except? -1
@cython.locals(share=double, arguments=int, at=int, low=int64_t, high=int64_t)
cdef int math_random(lua_State *L) noexcept
cdef int math_randomseed(lua_State *L) noexcept
