from server.parts.scripting.lua.libraries cimport bit, cjson, cmsgpack, struct
from server.parts.scripting.lua.lua_api cimport lua_State

cdef int install(lua_State *L) except -1
