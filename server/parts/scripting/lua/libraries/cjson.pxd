cimport cython

from server.parts.scripting.lua cimport lua_api as lua
from server.parts.scripting.lua cimport natives
from server.parts.scripting.lua.lua_api cimport lua_State
from server.parts.scripting.lua.libraries cimport cjson_options as options
from server.parts.scripting.lua.libraries cimport text_octets
from server.parts.scripting.lua.libraries.json_decoder cimport JsonDecoder
from server.parts.scripting.lua.libraries.json_encoder cimport JsonEncoder

cdef install(lua_State *L)
cdef _push_library(lua_State *L)
cdef int new(lua_State *L) noexcept
@cython.locals(encoder=JsonEncoder)
cdef int encode(lua_State *L) noexcept
@cython.locals(text=bytes, decoder=JsonDecoder)
cdef int decode(lua_State *L) noexcept
