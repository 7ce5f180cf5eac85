cimport cython

from server.parts.scripting.lua cimport lua_api as lua
from server.parts.scripting.lua cimport natives, values
from server.parts.scripting.lua.host cimport Host
from server.parts.scripting.lua.lua_api cimport lua_State

cdef int REPL_ALL
cdef int DEBUG
cdef int WARNING
cdef Host _running

@cython.locals(left=Host)
cdef Host enter(Host host)
cdef int install(lua_State *L) except -1
cdef int install_common(lua_State *L, dict versions) except -1
@cython.locals(host=Host)
cdef int count_reached(lua_State *L) noexcept
cdef int redis_call(lua_State *L) noexcept
cdef int redis_pcall(lua_State *L) noexcept
@cython.locals(words=list)
cdef int _call_command(lua_State *L, bint throws) except? -1
cdef int refuse(lua_State *L, bytes text) except? -1
@cython.locals(level=int, at=int)
cdef int redis_log(lua_State *L) noexcept
@cython.locals(is_text=bint)
cdef int redis_sha1hex(lua_State *L) noexcept
@cython.locals(version=int)
cdef int redis_setresp(lua_State *L) noexcept
@cython.locals(flags=int)
cdef int redis_set_repl(lua_State *L) noexcept
cdef int redis_acl_check_cmd(lua_State *L) noexcept
cdef int os_clock(lua_State *L) noexcept

@cython.locals(ref=int)
cdef int redis_register_function(lua_State *L) noexcept
cdef tuple _take_two(lua_State *L)
cdef tuple _take_named(lua_State *L)
cdef bytes _text_argument(lua_State *L, str name)
@cython.locals(kind=int)
cdef list _take_flags(lua_State *L)
