from libc.stdint cimport int64_t

from server.client.client cimport Client
from server.client.pushes cimport Pushes
from server.dispatch.execution cimport Execution
from server.parts.scripting.greenlet_stack cimport GreenletStack
from server.parts.scripting.own_stack cimport OwnStack
from server.parts.restrictions cimport Restrictions
from server.parts.scripting.side_stack cimport CommandRunner, SideStack
from server.process.timekeeper cimport Timekeeper
from server.process cimport stack_calls
from server.parts.propagation.propagation cimport Propagation
from server.parts.scripting.script_run cimport ScriptRun
from server.table.command cimport Command
from storage.keyspace.settings cimport Clock

cdef int CLIENT


cdef class SuspendedCommand:
    cdef readonly Client client
    cdef readonly Command command
    cdef readonly list argv
    cdef list ops
    cdef int64_t now_ms
    cdef int64_t ns
    cdef Client running


cdef class LongScripts(CommandRunner):
    cdef Execution _execution
    cdef ScriptRun _run
    cdef Restrictions _restrictions
    cdef Propagation _propagation
    cdef Pushes _pushes
    cdef Timekeeper _timekeeper
    cdef Clock _clock
    cdef SideStack _stack
    cdef SuspendedCommand _suspended
    cdef public object timers

    cpdef object run(self, Client client, Command command, list argv)
    cpdef object resume(self)
    cpdef suspend(self)
    cdef SideStack _make_stack(self)
    cdef _put_away(self, SuspendedCommand suspended)
