cimport cython
from libc.stdint cimport int64_t, uint64_t

from server.parts.scripting.lua cimport lua_api as lua
from server.parts.scripting.lua cimport natives
from server.parts.scripting.lua.lua_api cimport lua_State
from server.parts.scripting.lua.libraries cimport number_octets, text_octets
from server.parts.scripting.lua.libraries.output cimport Output

cdef int MOST_ALIGNED
cdef int LARGEST_INTEGER
cdef int64_t LARGEST_NUMBER
cdef uint64_t MASK_64
cdef int END
cdef int CONTROL
cdef int UNKNOWN
cdef int SIGNED
cdef int UNSIGNED
cdef int REAL
cdef int BYTES
cdef int TEXT
cdef int PADDING
cdef bytes KINDS
cdef bytes SIZES
cdef int A_BYTE
cdef int AN_INTEGER
cdef int A_NATURAL
cdef int BLANK
cdef int LITTLE
cdef int BIG
cdef int ALIGN
cdef bytes DATA_TOO_SHORT


cdef install(lua_State *L)


@cython.final
@cython.no_gc
@cython.freelist(2)
cdef class Format:
    cdef bytes text
    cdef Py_ssize_t at
    cdef int option
    cdef int kind
    cdef int64_t size
    cdef bint big
    cdef int64_t align

    @cython.locals(option=int)
    cdef int next(self, lua_State *L) except -2
    @cython.locals(number=int64_t)
    cdef int64_t _number(self, lua_State *L, int default) except -2
    @cython.locals(size=int64_t)
    cdef int64_t padding(self, uint64_t at) noexcept
    @cython.locals(option=int, align=int64_t)
    cdef int control(self, lua_State *L) except -2


@cython.locals(layout=Format, output=Output, argument=int, kind=int, number=double)
cdef int pack(lua_State *L) noexcept
@cython.locals(length=int64_t, size=int64_t)
cdef int _pack_string(
    lua_State *L, Output output, Format layout, int argument
) except -2

@cython.locals(argument=int, at=uint64_t)
cdef int unpack(lua_State *L) noexcept
@cython.locals(results=int, kind=int, size=uint64_t, end=Py_ssize_t)
cdef int _unpack_from(lua_State *L, Format layout, bytes data, uint64_t at) except -2
@cython.locals(bits=uint64_t, sign=uint64_t)
cdef double _integer(bytes data, uint64_t at, Format layout) except? -1

@cython.locals(layout=Format, at=uint64_t, kind=int)
cdef int size(lua_State *L) noexcept
