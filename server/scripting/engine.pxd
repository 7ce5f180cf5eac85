from protocol.encoder cimport Encoder
from server.client.client cimport Client
from server.lua.interpreter cimport Failure, Interpreter
from server.scripting.script_run cimport ScriptRun


cdef class Engine:
    cdef readonly Interpreter interpreter
    cdef readonly ScriptRun run

    cpdef Encoder run_for(
        self, Client client, object caller, list argv, bytes name, int flags, int ref, list keys,
        list arguments, bint is_function
    )
    cdef object _error_of(self, Failure failure)
