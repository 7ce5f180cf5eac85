cimport cython
from libc.stdint cimport int64_t, uint64_t

from server.parts.scripting.lua cimport lua_api as lua
from server.parts.scripting.lua cimport natives
from server.parts.scripting.lua.lua_api cimport lua_State
from server.parts.scripting.lua.libraries cimport number_octets

cdef int HEX_DIGITS

cdef install(lua_State *L)
cdef uint64_t _bits(lua_State *L, int at) noexcept
cdef bint _are_numbers(lua_State *L, int most) noexcept
cdef bint _is_number(lua_State *L, int argument) noexcept
cdef int _give(lua_State *L, uint64_t bits) noexcept

cdef int tobit(lua_State *L) noexcept
cdef int bnot(lua_State *L) noexcept
@cython.locals(at=int, bits=uint64_t)
cdef int band(lua_State *L) noexcept
@cython.locals(at=int, bits=uint64_t)
cdef int bor(lua_State *L) noexcept
@cython.locals(at=int, bits=uint64_t)
cdef int bxor(lua_State *L) noexcept
cdef int lshift(lua_State *L) noexcept
cdef int rshift(lua_State *L) noexcept
@cython.locals(bits=int64_t)
cdef int arshift(lua_State *L) noexcept
@cython.locals(bits=uint64_t, count=int)
cdef int rol(lua_State *L) noexcept
@cython.locals(bits=uint64_t, count=int)
cdef int ror(lua_State *L) noexcept
@cython.locals(bits=uint64_t, middle=uint64_t)
cdef int bswap(lua_State *L) noexcept
@cython.locals(count=int64_t, digits=bytes)
cdef int tohex(lua_State *L) noexcept
