from server.observe.memory cimport Memory
from server.observe.part cimport Part
from server.scripting.script_run cimport ScriptRun


cdef class Scripting(Part):
    cdef readonly tuple opened_functions
    cdef object _limit
    cdef Memory _memory
    cdef tuple _scripts
    cdef readonly ScriptRun run

    cpdef tuple scripts(self)
    cpdef tuple functions(self)
