# inline only
from cpython.bytearray cimport PyByteArray_AS_STRING
from libc.string cimport memcpy

from server.parts.scripting.lua.lua_api cimport lua_pushlstring, lua_State, lua_tolstring

cdef extern from *:
    """
    /* What stands after the backslash: 0 if a character needs none. */
    static const char penstock_json_escape[256] = {
        'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'b', 't', 'n', 'u', 'f', 'r', 'u', 'u',
        'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u', 'u',
        ['"'] = '"', ['/'] = '/', ['\\\\'] = '\\\\', [127] = 'u',
    };
    """
    const char penstock_json_escape[256]

cdef enum:
    MOST_ESCAPED = 6


cdef inline Py_ssize_t put_lua(
    lua_State *L, int at, bytearray buffer, Py_ssize_t end, Py_ssize_t size
) noexcept:
    memcpy(PyByteArray_AS_STRING(buffer) + end, lua_tolstring(L, at, NULL), size)
    return end + size


cdef inline Py_ssize_t put_quoted(
    lua_State *L, int at, bytearray buffer, Py_ssize_t end
) noexcept:
    cdef size_t size = 0
    cdef size_t i
    cdef const char *text = lua_tolstring(L, at, &size)
    cdef char *start = PyByteArray_AS_STRING(buffer)
    cdef char *out = start + end
    cdef char escape
    out[0] = b'"'
    out += 1
    for i in range(size):
        escape = penstock_json_escape[<unsigned char>text[i]]
        if escape == 0:
            out[0] = text[i]
            out += 1
            continue
        out[0] = b"\\"
        out[1] = escape
        out += 2
        if escape == b"u":
            out[0] = b"0"
            out[1] = b"0"
            out[2] = 48 + (text[i] >> 4)
            out[3] = b"0123456789abcdef"[text[i] & 15]
            out += 4
    out[0] = b'"'
    return out + 1 - start


cdef inline Py_ssize_t quoted_size(lua_State *L, int at) noexcept:
    cdef size_t size = 0
    cdef size_t i
    cdef const char *text = lua_tolstring(L, at, &size)
    cdef Py_ssize_t quoted = 2 + size
    cdef char escape
    for i in range(size):
        escape = penstock_json_escape[<unsigned char>text[i]]
        if escape:
            quoted += 5 if escape == b"u" else 1
    return quoted


cdef inline int push_buffer(lua_State *L, bytearray buffer, Py_ssize_t end) except -1:
    lua_pushlstring(L, PyByteArray_AS_STRING(buffer), end)
    return 0
