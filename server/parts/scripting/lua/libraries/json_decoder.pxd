cimport cython
from libc.stdint cimport int64_t

from server.parts.scripting.lua cimport lua_api as lua
from server.parts.scripting.lua cimport natives
from server.parts.scripting.lua.lua_api cimport lua_State
from server.parts.scripting.lua.libraries cimport cjson_options as options
from server.parts.scripting.lua.libraries cimport number_octets, text_octets
from server.parts.scripting.lua.libraries.output cimport Output

cdef int OBJECT
cdef int OBJECT_END
cdef int ARRAY
cdef int ARRAY_END
cdef int STRING
cdef int NUMBER
cdef int BOOLEAN
cdef int NULL
cdef int COLON
cdef int COMMA
cdef int END
cdef int WRONG
cdef tuple NAMES
cdef int LEFT_BRACE
cdef int RIGHT_BRACE
cdef int LEFT_BRACKET
cdef int RIGHT_BRACKET
cdef int A_COLON
cdef int A_COMMA
cdef int QUOTE
cdef int BACKSLASH
cdef int PLUS
cdef int MINUS
cdef int DIGIT_0
cdef int DIGIT_9
cdef int LETTER_U
cdef dict ESCAPES
cdef bytes INVALID_NUMBER
cdef bytes INVALID_TOKEN


@cython.final
@cython.no_gc
@cython.freelist(2)
cdef class JsonDecoder:
    cdef bytes text
    cdef Py_ssize_t at
    cdef int token
    cdef Py_ssize_t token_at
    cdef double number
    cdef Py_ssize_t start
    cdef Py_ssize_t end
    cdef Output unescaped
    cdef bytes wrong
    cdef bint accepts_invalid

    @cython.locals(most=int64_t, outer=list, index=int, token=int, marks=bint, room=int)
    cdef int read(self, lua_State *L) except -2
    cdef int read_end(self, lua_State *L) except -2
    cdef int _refuse(self, lua_State *L, bytes expected) except -2
    cdef int _push_plain(self, lua_State *L, int token) except -2
    cdef int _push_string(self, lua_State *L) except -1
    cdef int _read_key(self, lua_State *L) except -2

    @cython.locals(at=Py_ssize_t, byte=int)
    cdef int _next(self) except -1
    cdef int _refuse_token(self, Py_ssize_t at, bytes wrong) except -1
    cdef int _read_word(self, Py_ssize_t at) except -1
    @cython.locals(number="double[1]", end=Py_ssize_t)
    cdef _read_number(self, Py_ssize_t at, bint accepted)
    @cython.locals(start=Py_ssize_t, end=Py_ssize_t)
    cdef int _read_string(self) except -1
    @cython.locals(byte=int)
    cdef _unescape(self, Py_ssize_t start, Py_ssize_t end)
    @cython.locals(code=int, low=int)
    cdef Py_ssize_t _unescape_unicode(self, Py_ssize_t at) except -2
    @cython.locals(number=int, i=int, digit=int)
    cdef int _four_digits(self, Py_ssize_t at) except -2
    @cython.locals(out=Output)
    cdef _write_utf8(self, int code)


@cython.locals(first=int, second=int)
cdef bint _is_invalid_number(bytes text, Py_ssize_t at) except -1
