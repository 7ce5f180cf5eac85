cimport cython
from libc.stdint cimport int64_t

from server.parts.scripting.lua.interpreter cimport Interpreter
from server.parts.scripting.script cimport Script, ScriptTable

cdef Py_ssize_t SHA_CHARACTERS
cdef Py_ssize_t SCRIPT_BYTES


cdef class ScriptCache(ScriptTable):
    cdef Interpreter _interpreter
    cdef dict _by_sha
    cdef dict _by_source
    cdef object _by_eval
    cdef Script _last
    cdef readonly int64_t evicted
    cdef readonly int64_t memory

    @cython.locals(last=Script, script=Script)
    cpdef Script known_by(self, bytes sha)
    @cython.locals(last=Script, script=Script, oldest=Script)
    cpdef Script compiled(self, bytes source)
    cpdef Script load(self, bytes source)
    cpdef clear(self)
    cdef _used(self, Script script)
    cdef Script _add(self, bytes source)
