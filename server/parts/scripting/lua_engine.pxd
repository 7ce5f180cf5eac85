from protocol.encoder cimport Encoder
from server.client.client cimport Client
from server.parts.scripting.lua.interpreter cimport Failure, Interpreter
from server.parts.scripting.script cimport Engine
from server.parts.scripting.script_run cimport ScriptRun


cdef Py_ssize_t FIRST_KEY


cdef class LuaEngine(Engine):
    cdef Encoder _out
    cdef readonly Interpreter interpreter
    cdef readonly ScriptRun run

    cpdef Encoder run_for(
        self, Client client, list argv, bytes name, int flags, int ref, int keys, bint is_function
    )
    cdef object _error_of(self, Failure failure)
