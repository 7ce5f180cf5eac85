cimport cython
from libc.stdint cimport int64_t

from server.parts.scripting.lua cimport lua_api as lua
from server.parts.scripting.lua cimport natives
from server.parts.scripting.lua.lua_api cimport lua_State
from server.parts.scripting.lua.libraries cimport message_packer, number_octets
from server.parts.scripting.lua.libraries.message_unpacker cimport MessageUnpacker
from server.parts.scripting.lua.libraries.output cimport Output

cdef int64_t MOST_RESULTS

cdef install(lua_State *L)
@cython.locals(count=int, output=Output, argument=int)
cdef int pack(lua_State *L) noexcept

cdef int unpack(lua_State *L) noexcept
cdef int unpack_one(lua_State *L) noexcept
cdef int unpack_limit(lua_State *L) noexcept
cdef int64_t _integer(lua_State *L, int argument) noexcept
@cython.locals(
    data=bytes,
    size=Py_ssize_t,
    low_offset=int64_t,
    unpacker=MessageUnpacker,
    everything=bint,
    results=int,
)
cdef int _unpack(lua_State *L, int64_t limit, int64_t offset) except -2
