cimport cython

from protocol.encoder cimport Encoder
from server.parts.scripting.lua cimport lua_api as lua
from server.parts.scripting.lua cimport natives, randomness, redis_library, values
from server.parts.scripting.lua.host cimport Host
from server.parts.scripting.lua.libraries cimport bit, cjson, cmsgpack, struct
from server.parts.scripting.lua.lua_api cimport lua_State
from server.parts.scripting.lua.results cimport ResultWriter

cdef int COUNT
cdef int LONGEST_PATTERN
cdef int LOWEST_PLACE
cdef int OUT_OF_MEMORY
cdef bytes BYTECODE


cdef class Failure:
    cdef readonly bytes text
    cdef readonly bytes place
    cdef readonly bint counted


cdef class Interpreter:
    cdef lua_State *_L
    cdef Host _host
    cdef ResultWriter _results
    cdef int _argv_name
    cdef int _describe
    cdef int _globals
    cdef int _keys_name
    cdef int _loading
    cdef int _sight
    cdef int _world

    cpdef close(self)
    cpdef set_limit(self, size_t limit)
    cdef _install_own(self)
    cdef _build_world(self, size_t limit, dict versions)
    @cython.locals(status=int)
    cpdef int compile(self, bytes source, bytes name) except? -1
    cpdef forget(self, int ref)
    cpdef Failure run_script(self, int ref, list words, int first, int keys, Encoder out)
    cpdef Failure run_function(self, int ref, list words, int first, int keys, Encoder out)
    @cython.locals(at=int)
    cdef int _push_words(self, list words, int start, int end) except -1
    cdef Failure _run(self, int arguments, Encoder out)
    cpdef Failure load_library(self, int ref)
    cdef int _let_see(self, int world) except -1
    @cython.locals(outer=Host, status=int)
    cdef Failure _call(self, int arguments, int results)
    cdef Failure _failure(self, int status)
    @cython.locals(kind=int)
    cdef bytes _text_field(self, bytes name)
