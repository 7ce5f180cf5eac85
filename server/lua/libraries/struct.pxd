cimport cython
from libc.stdint cimport int64_t, uint64_t

from server.lua cimport lua_api as lua
from server.lua cimport natives
from server.lua.lua_api cimport lua_State
from server.lua.libraries cimport number_octets, text_octets
from server.lua.libraries.output cimport Output

cdef int MOST_ALIGNED
cdef int LARGEST_INTEGER
cdef int64_t LARGEST_NUMBER
cdef uint64_t MASK_64
cdef dict SIZES
cdef int BYTES
cdef int TEXT
cdef int INTEGER
cdef int NATURAL
cdef int SINGLE
cdef int DOUBLE
cdef int PADDING
cdef int BLANK
cdef int LITTLE
cdef int BIG
cdef int ALIGN
cdef object INTEGERS
cdef object SIGNED
cdef object LETTERS_AND_DIGITS
cdef bytes DATA_TOO_SHORT


cdef install(lua_State *L)


@cython.final
cdef class Format:
    cdef bytes text
    cdef Py_ssize_t at
    cdef int64_t size
    cdef bint big
    cdef int64_t align

    @cython.locals(option=int)
    cdef int next(self, lua_State *L) except -2
    @cython.locals(number=int64_t)
    cdef int64_t _number(self, lua_State *L, int default) except -2
    @cython.locals(size=int64_t)
    cdef int64_t padding(self, uint64_t at, int option) noexcept
    @cython.locals(align=int64_t)
    cdef int control(self, lua_State *L, int option) except -2


cdef int pack(lua_State *L) noexcept
@cython.locals(layout=Format, output=Output, argument=int, option=int)
cdef int _pack(lua_State *L) except -2
cdef int _pack_number(Output output, int option, Format layout, double number) except -1
@cython.locals(length=int64_t, size=int64_t)
cdef int _pack_string(
    lua_State *L, Output output, int option, Format layout, int argument
) except -2

cdef int unpack(lua_State *L) noexcept
@cython.locals(argument=int, at=uint64_t)
cdef int _unpack(lua_State *L) except -2
@cython.locals(results=int, option=int, size=uint64_t, end=Py_ssize_t)
cdef int _unpack_from(lua_State *L, Format layout, bytes data, uint64_t at) except -2
@cython.locals(bits=uint64_t, sign=uint64_t)
cdef double _integer(bytes data, uint64_t at, int option, Format layout) except? -1

cdef int size(lua_State *L) noexcept
@cython.locals(layout=Format, at=uint64_t, option=int)
cdef int _size(lua_State *L) except -2
