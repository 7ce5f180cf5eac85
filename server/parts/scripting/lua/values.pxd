cimport cython
from libc.stdint cimport int64_t, uint64_t

from protocol cimport wire
from protocol.encoder cimport Encoder
from protocol.replies cimport Status
from server.parts.scripting.lua cimport lua_api as lua
from server.parts.scripting.lua.lua_api cimport lua_State

cdef int ROOM
cdef int64_t I64_MIN
cdef double TWO_63
cdef bytes IS_COUNTED
cdef list NO_WORDS
cdef Py_ssize_t KEPT_WORDS
cdef Py_ssize_t KEPT_BYTES
cdef list _last_words
cdef bint _has_long_words
cdef bytes _expected
cdef int64_t EXACT
cdef int BULK
cdef int INTEGER
cdef int ARRAY
cdef int STATUS
cdef int ERROR
cdef int NULL
cdef int BOOLEAN
cdef int DOUBLE
cdef int MAP
cdef int SET
cdef int BIG
cdef int VERBATIM
cdef int CR
cdef int MINUS
cdef int DIGIT_0

cpdef int64_t whole(double number) except? -1

@cython.locals(line=bytes, out=Encoder)
cdef bint push_reply(lua_State *L, object reply, int resp) except -1
cdef int _push_null(lua_State *L, int resp) except -1
cdef int _push_named(
    lua_State *L, bytes name, bytes text, Py_ssize_t start, Py_ssize_t end
) except -1
@cython.locals(end=Py_ssize_t, start=Py_ssize_t, size=Py_ssize_t, mark=int)
cdef Py_ssize_t _push_next(lua_State *L, bytes data, Py_ssize_t at, int resp) except -1
@cython.locals(is_negative=bint, number=uint64_t, at=Py_ssize_t)
cdef int64_t _number(bytes data, Py_ssize_t start, Py_ssize_t end) except? -1
cdef int _push_line(
    lua_State *L, bytes data, int mark, Py_ssize_t start, Py_ssize_t end, int resp
) except -1
@cython.locals(index=int)
cdef Py_ssize_t _push_array(
    lua_State *L, bytes data, Py_ssize_t size, Py_ssize_t at, int resp
) except -1
cdef Py_ssize_t _push_pairs(
    lua_State *L, bytes data, Py_ssize_t size, Py_ssize_t at, int resp, bint is_map
) except -1
cdef int _push_verbatim(lua_State *L, bytes data, Py_ssize_t start, Py_ssize_t end) except -1
cdef int push_error(lua_State *L, bytes text) except -1
@cython.locals(
    last=list, known=Py_ssize_t, count=Py_ssize_t, words=list, index=int, kind=int, word=bytes
)
cdef list take_words(lua_State *L)
cdef expect(bytes word)
cdef script_ended()
@cython.locals(integer=int64_t)
cpdef bytes number_text(double number)
