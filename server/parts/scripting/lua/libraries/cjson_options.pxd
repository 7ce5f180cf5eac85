cimport cython
from libc.stdint cimport int64_t

from server.parts.scripting.lua cimport lua_api as lua
from server.parts.scripting.lua cimport natives
from server.parts.scripting.lua.lua_api cimport lua_CFunction, lua_State
from server.parts.scripting.lua.libraries cimport number_octets

cdef int SPARSE_CONVERT
cdef int SPARSE_RATIO
cdef int SPARSE_SAFE
cdef int ENCODE_DEPTH
cdef int ENCODE_INVALID
cdef int PRECISION
cdef int KEEP_BUFFER
cdef int DECODE_DEPTH
cdef int DECODE_INVALID
cdef int DECODE_MARKS
cdef bytes MARK
cdef int OFF
cdef int ON
cdef int NULL
cdef tuple DEFAULTS
cdef tuple SWITCH
cdef tuple INVALID
cdef int LARGEST
cdef int MOST_DIGITS

cdef push_defaults(lua_State *L)
@cython.locals(value=int64_t)
cdef int64_t get(lua_State *L, int option) except? -1
cdef _set(lua_State *L, int option, int64_t value)

cdef int _take(lua_State *L, int most) except -2
@cython.locals(value=int64_t)
cdef int _number(lua_State *L, int argument, int option, int64_t least, int64_t most) except -2
@cython.locals(kind=int, word=bytes)
cdef int _choice(lua_State *L, int argument, int option, tuple words) except -2
cdef int _number_alone(lua_State *L, int option, int64_t most) except -2
cdef int _choice_alone(lua_State *L, int option, tuple words) except -2

cdef int encode_sparse_array(lua_State *L) noexcept
cdef int encode_max_depth(lua_State *L) noexcept
cdef int decode_max_depth(lua_State *L) noexcept
cdef int encode_number_precision(lua_State *L) noexcept
cdef int encode_keep_buffer(lua_State *L) noexcept
cdef int encode_invalid_numbers(lua_State *L) noexcept
cdef int decode_invalid_numbers(lua_State *L) noexcept
cdef int decode_array_with_array_mt(lua_State *L) noexcept

cdef mark_array(lua_State *L)
@cython.locals(marked=bint)
cdef bint is_marked(lua_State *L) except -1

cdef install(lua_State *L, int options)
cdef set_bound(lua_State *L, int options, bytes name, lua_CFunction native)
