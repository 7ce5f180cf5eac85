cimport cython

from protocol.encoder cimport Encoder
from server.parts.scripting.lua cimport lua_api as lua
from server.parts.scripting.lua cimport natives, values
from server.parts.scripting.lua.host cimport Host
from server.parts.scripting.lua.lua_api cimport lua_State

cdef int DEEPEST
cdef size_t COPIED
cdef size_t BESIDE
cdef int ASKED_EVERY
cdef Encoder _NOWHERE


@cython.final
cdef class ResultWriter:
    cdef Encoder _out
    cdef Host _host
    cdef int _script_resp
    cdef Py_ssize_t _values

    cdef int write(self, lua_State *L, Encoder out) except -1
    @cython.locals(out=Encoder, kind=int, size=size_t)
    cdef int _write_value(self, lua_State *L, int depth) except -1
    @cython.locals(out=Encoder, is_counted=bint)
    cdef int _write_table(self, lua_State *L, int depth) except -1
    cdef _write_error(self, object error, bint is_counted)
    cdef bint _has(self, lua_State *L, bytes name, int kind) except -1
    cdef bytes _take_text(self, lua_State *L)
    @cython.locals(size=int, index=int, is_end=bint)
    cdef int _write_array(self, lua_State *L, int depth) except -1
    cdef int _write_map(self, lua_State *L, int depth) except -1
    cdef int _write_set(self, lua_State *L, int depth) except -1
    cdef bint _write_verbatim(self, lua_State *L) except -1


cpdef object error_of(bytes text)
