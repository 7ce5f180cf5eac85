cimport cython
from libc.stdint cimport int64_t, uint64_t

from server.parts.scripting.lua cimport lua_api as lua
from server.parts.scripting.lua cimport natives
from server.parts.scripting.lua.lua_api cimport lua_State
from server.parts.scripting.lua.libraries cimport message_marks as marks
from server.parts.scripting.lua.libraries cimport number_octets, text_octets

cdef double inf
cdef bytes MISSING
cdef bytes WRONG
cdef bytes TOO_MANY
cdef bytes TOO_DEEP
cdef int64_t A_VALUE


@cython.final
@cython.no_gc
@cython.freelist(2)
cdef class MessageUnpacker:
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
