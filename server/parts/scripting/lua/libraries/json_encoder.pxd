cimport cython
from libc.stdint cimport int64_t

from server.parts.scripting.lua cimport lua_api as lua
from server.parts.scripting.lua cimport natives
from server.parts.scripting.lua.lua_api cimport lua_State
from server.parts.scripting.lua.libraries cimport cjson_options as options
from server.parts.scripting.lua.libraries cimport lua_octets, number_octets
from server.parts.scripting.lua.libraries.output cimport Output

cdef double inf
cdef int LEFT_BRACE
cdef int RIGHT_BRACE
cdef int LEFT_BRACKET
cdef int RIGHT_BRACKET
cdef int QUOTE
cdef int COMMA
cdef int COLON
cdef int64_t AN_OBJECT
cdef int64_t FAILED
cdef Py_ssize_t SHORT
cdef double LARGEST_KEY
cdef int64_t OVERFLOWN


@cython.final
@cython.no_gc
@cython.freelist(2)
cdef class JsonEncoder:
    cdef Output output
    cdef int64_t invalid
    cdef int digits

    @cython.locals(
        outer=list, most=int64_t, depth=int64_t, written=int64_t, length=int64_t, kind=int
    )
    cdef int write(self, lua_State *L) except -2
    @cython.locals(length=int64_t)
    cdef int64_t _open(self, lua_State *L) except -3
    cdef bint _push_next(self, lua_State *L, int64_t written, int64_t length) except -1
    @cython.locals(kind=int)
    cdef int _write_key(self, lua_State *L) except -2
    cdef int _write_plain(self, lua_State *L, int kind) except -2
    @cython.locals(size=Py_ssize_t)
    cdef int _write_string(self, lua_State *L, int at) except -1
    @cython.locals(number=double)
    cdef int _write_number(self, lua_State *L, int at) except -2
    @cython.locals(largest=int64_t, items=int64_t, key=double, ratio=int64_t)
    cdef int64_t _array_length(self, lua_State *L) except -3


cdef int _refuse(lua_State *L, int at, bytes reason) except -2
