cimport cython
from libc.stdint cimport int64_t, uint64_t

from server.lua cimport lua_api as lua
from server.lua cimport natives
from server.lua.lua_api cimport lua_State
from server.lua.libraries cimport number_octets, text_octets
from server.lua.libraries.output cimport Output

cdef double inf
cdef int MOST_NESTED
cdef int64_t MOST_RESULTS
cdef int MAP
cdef int ARRAY
cdef int STRING
cdef int NEGATIVE
cdef int NIL
cdef int FALSE
cdef int TRUE
cdef int SINGLE
cdef int DOUBLE
cdef int UINT_8
cdef int UINT_64
cdef int INT_8
cdef int INT_64
cdef int STRING_8
cdef int STRING_16
cdef int STRING_32
cdef int ARRAY_16
cdef int ARRAY_32
cdef int MAP_16
cdef bytes MISSING
cdef bytes WRONG
cdef bytes TOO_MANY
cdef bytes TOO_DEEP
cdef int64_t A_VALUE

cdef install(lua_State *L)
cdef int pack(lua_State *L) noexcept
@cython.locals(count=int, output=Output, argument=int)
cdef int _pack(lua_State *L) except -2
@cython.locals(kind=int)
cdef int _pack_value(lua_State *L, Output output, int level) except -1
@cython.locals(size=Py_ssize_t)
cdef int _pack_string(lua_State *L, Output output) except -1
cdef int _pack_count(Output output, int mark, int64_t count) except -1
@cython.locals(whole=int64_t)
cdef int _pack_number(Output output, double number) except -1
@cython.locals(size=int, mark=int)
cdef _pack_whole(Output output, int64_t number)
@cython.locals(count=int64_t, index=int64_t)
cdef _pack_table(lua_State *L, Output output, int level)
@cython.locals(count=int64_t)
cdef int64_t _count(lua_State *L) except -1
@cython.locals(key=double)
cdef bint _is_array(lua_State *L, int64_t count) except -1

cdef int unpack(lua_State *L) noexcept
cdef int unpack_one(lua_State *L) noexcept
cdef int unpack_limit(lua_State *L) noexcept
cdef bint _is_absent(lua_State *L, int argument) noexcept
cdef int64_t _integer(lua_State *L, int argument) noexcept
@cython.locals(
    data=bytes,
    size=Py_ssize_t,
    low_offset=int64_t,
    unpacker=Unpacker,
    everything=bint,
    results=int,
)
cdef int _unpack(lua_State *L, int64_t limit, int64_t offset) except -2


@cython.final
@cython.no_gc
@cython.freelist(2)
cdef class Unpacker:
    cdef bytes data
    cdef Py_ssize_t at
    cdef bint is_array

    @cython.locals(outer=list, missing=int64_t, index=int64_t, items=int64_t)
    cdef int value(self, lua_State *L) except -2
    @cython.locals(key=int)
    cdef int _settle(self, lua_State *L, int64_t missing, int64_t index) except -2
    @cython.locals(mark=int)
    cdef int64_t _item(self, lua_State *L) except -3
    cdef bint _has(self, Py_ssize_t size) noexcept
    cdef int64_t _real(self, lua_State *L, int size) except -3
    @cython.locals(bits=uint64_t)
    cdef int64_t _integer(self, lua_State *L, int size, bint signed) except -3
    @cython.locals(width=int, count=int64_t)
    cdef int64_t _sized(self, lua_State *L, int mark) except -3
    cdef int64_t _string(self, lua_State *L, Py_ssize_t size) except -3
    cdef int64_t _table(self, lua_State *L, int64_t count, bint is_array) except -3
