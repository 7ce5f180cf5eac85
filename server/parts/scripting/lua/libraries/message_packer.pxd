cimport cython
from libc.stdint cimport int64_t

from server.parts.scripting.lua cimport lua_api as lua
from server.parts.scripting.lua cimport natives
from server.parts.scripting.lua.lua_api cimport lua_State
from server.parts.scripting.lua.libraries cimport message_marks as marks
from server.parts.scripting.lua.libraries cimport number_octets
from server.parts.scripting.lua.libraries.output cimport Output

cdef int MOST_NESTED
cdef int ROOM

@cython.locals(kind=int)
cdef int pack_value(lua_State *L, Output output, int level) except -1
@cython.locals(size=Py_ssize_t)
cdef int _pack_string(lua_State *L, Output output) except -1
cdef int _pack_count(Output output, int mark, int64_t count) except -1
@cython.locals(whole=int64_t)
cdef int _pack_number(Output output, double number) except -1
@cython.locals(size=int, mark=int)
cdef _pack_whole(Output output, int64_t number)
@cython.locals(count=int64_t, index=int64_t)
cdef _pack_table(lua_State *L, Output output, int level)
@cython.locals(key=double)
cdef bint _is_array(lua_State *L, int64_t count) except -1
