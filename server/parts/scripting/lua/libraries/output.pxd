cimport cython
from libc.stdint cimport uint64_t

from server.parts.scripting.lua cimport lua_api as lua
from server.parts.scripting.lua.lua_api cimport lua_State
from server.parts.scripting.lua.libraries cimport lua_octets, number_octets, text_octets

cdef Py_ssize_t FIRST
cdef Py_ssize_t LARGEST


@cython.final
@cython.no_gc
@cython.freelist(2)
cdef class Output:
    cdef lua_State *L
    cdef bytearray buffer
    cdef Py_ssize_t end
    cdef Py_ssize_t _room

    cdef int reserve(self, Py_ssize_t size) except -1
    cdef int _grow(self, Py_ssize_t size) except -1
    cdef int byte(self, int value) except -1
    cdef int text(self, bytes text) except -1
    cdef int slice(self, bytes text, Py_ssize_t start, Py_ssize_t stop) except -1
    cdef int lua_string(self, int at, Py_ssize_t size) except -1
    cdef int integer(self, uint64_t bits, int size, bint big) except -1
    cdef int real(self, double number, int size, bint big) except -1
    cdef int push(self) except -1
