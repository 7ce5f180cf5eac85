cimport cython

from server.lua cimport lua_api as lua
from server.lua.lua_api cimport lua_State

cdef int fail(lua_State *L, bytes message) except? -1
cdef bytes place(lua_State *L)
cdef int bad_argument(lua_State *L, int at, bytes name, bytes problem) except? -1
cdef int wrong_type(lua_State *L, int at, bytes name, bytes wanted) except? -1
@cython.locals(kind=int)
cdef bint is_number(lua_State *L, int at) except -1
@cython.locals(number=double)
cdef int to_int(lua_State *L, int at) except? -1
