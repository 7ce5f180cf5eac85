cimport cython
from libc.stdint cimport int64_t

from protocol.requests cimport RequestParser
from server.client.client cimport Client
from server.client.endpoint cimport Endpoint
from server.client.pushes cimport Pushes
from server.dispatch.admission cimport Admission
from server.dispatch.command_lookup cimport CommandLookup
from server.dispatch.execution cimport Execution
from server.dispatch.long_scripts cimport LongScripts
from server.dispatch.replaying cimport Replaying
from server.dispatch.turn cimport Turn
from server.dispatch.waits cimport Waits
from server.observe.command_stats cimport CommandCount
from server.observe.large_commands cimport LargeCommands
from server.parts.eviction.client_eviction cimport ClientEviction
from server.parts.restrictions cimport Restrictions
from server.parts.scripting.scripting cimport Scripting
from server.parts.state cimport ServerState
from server.parts.waiting.blocking cimport Blocking
from server.process.timekeeper cimport Timekeeper
from server.table.command cimport Block, Command
from storage.keyspace.keyspace cimport Keyspace

cdef Py_ssize_t LOOK_AHEAD

cdef int NOT_QUEUED
cdef int RUNS_QUEUE
cdef int RUNS_SCRIPTS
cdef int RUNS_OTHERS
cdef int IN_MULTI
cdef int HEARS
cdef int TRACKING
cdef int CLIENT


@cython.final
cdef class Dispatcher:
    cdef readonly ServerState state
    cdef public bint is_behind
    cdef object _timers
    cdef Blocking _blocking
    cdef ClientEviction _client_eviction
    cdef Pushes _pushes
    cdef Restrictions _restrictions
    cdef Scripting _scripting
    cdef Timekeeper _timekeeper
    cdef LargeCommands _large
    cdef Admission _admission
    cdef readonly CommandLookup lookup
    cdef readonly Execution execution
    cdef readonly LongScripts long_scripts
    cdef readonly Turn turn
    cdef readonly Waits waits
    cdef readonly Replaying replaying

    @cython.locals(command=Command, must_check=bint)
    cpdef execute(self, Client client, list argv)
    cdef bint _runs_script(self, Client client, Command command) except -1
    @cython.locals(waits=bint, size=int64_t)
    cdef _finish(self, Client client, Command command, list argv, object reply)
    cpdef resume_script(self)
    cdef Command _look_up(self, Client client, list argv)
    @cython.locals(flags=int)
    cdef bint _admit(self, Client client, Command command, list argv) except -1
    cdef _refuse(self, Client client, object error)
    @cython.locals(count=CommandCount)
    cdef _reject(self, Client client, Command command, object error)
    @cython.locals(command=Command, db=Keyspace, keys=list, place=Py_ssize_t)
    cpdef Py_ssize_t look_ahead(self, Client client, RequestParser parser) except -1
    @cython.locals(is_free=bint, count=Py_ssize_t)
    cpdef queue_alike(self, Client client, RequestParser parser)
    cpdef clock_moved(self)
