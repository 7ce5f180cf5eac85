cimport cython

from server.client.client cimport Client
from server.dispatch.admission cimport Admission
from server.dispatch.command_lookup cimport CommandLookup
from server.dispatch.execution cimport Execution
from server.dispatch.long_scripts cimport LongScripts
from server.parts.scripting.script_run cimport Caller, ScriptRun
from server.table.command cimport Command

cdef int RESTRICTED


cdef class ScriptCommands(Caller):
    cdef CommandLookup _lookup
    cdef Admission _admission
    cdef Execution _execution
    cdef LongScripts _long_scripts

    @cython.locals(command=Command, origin=int)
    cpdef object run_inside(self, Client client, list argv, ScriptRun run)
    cpdef count_error(self, object error)
    @cython.locals(command=Command)
    cpdef object may_run(self, Client client, list argv)
    cpdef suspend(self)
