cimport cython

from server.client.client cimport Client
from server.dispatch.command_lookup cimport CommandLookup
from server.dispatch.execution cimport Execution
from server.dispatch.waits cimport Waits
from server.parts.state cimport ServerState
from server.parts.propagation.propagation cimport Propagation
from server.table.command cimport Command
from server.parts.waiting.blocking cimport Blocking

cdef int NOT_QUEUED
cdef int RUNS_SCRIPTS
cdef int REPLICATED
cdef int IN_MULTI
cdef int LOG
cdef int PRIMARY


@cython.final
cdef class Replaying:
    cdef Waits _waits
    cdef CommandLookup _lookup
    cdef Execution _execution
    cdef ServerState _state
    cdef Blocking _blocking
    cdef Propagation _propagation
    cdef object _failures

    cpdef object replay(self, Client client, list argv)
    cpdef apply(self, Client client, list argv)

@cython.locals(is_change=bint)
cdef bint _is_replayed(Command command, int origin) except -1
