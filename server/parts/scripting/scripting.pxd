from server.observe.memory cimport Memory
from server.observe.part cimport Part
from server.parts.scripting.script_run cimport ScriptRun
from server.table.command cimport Command


cdef class Scripting(Part):
    cdef readonly tuple opened_functions
    cdef object _limit
    cdef Memory _memory
    cdef tuple _scripts
    cdef readonly ScriptRun run

    cpdef int flags_of(self, Command command, list argv) except -1
    cpdef tuple scripts(self)
    cpdef tuple functions(self)
