from server.lua cimport lua_api as lua
from server.lua.lua_api cimport lua_State

cdef int install(lua_State *L) except -1
