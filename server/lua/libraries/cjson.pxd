cimport cython

from server.lua cimport lua_api as lua
from server.lua cimport natives
from server.lua.lua_api cimport lua_State
from server.lua.libraries cimport cjson_options as options
from server.lua.libraries cimport text_octets
from server.lua.libraries.json_decoder cimport JsonDecoder
from server.lua.libraries.json_encoder cimport JsonEncoder

cdef install(lua_State *L)
cdef _push_library(lua_State *L)
cdef int new(lua_State *L) noexcept
cdef int encode(lua_State *L) noexcept
@cython.locals(encoder=JsonEncoder)
cdef int _encode(lua_State *L) except -2
cdef int decode(lua_State *L) noexcept
@cython.locals(text=bytes, decoder=JsonDecoder)
cdef int _decode(lua_State *L) except -2
