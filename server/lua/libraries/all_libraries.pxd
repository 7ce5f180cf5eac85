from server.lua.libraries cimport bit, cjson, cmsgpack, struct
from server.lua.lua_api cimport lua_State

cdef int install(lua_State *L) except -1
