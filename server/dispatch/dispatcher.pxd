cimport cython

from protocol.encoder cimport Encoder
from protocol.requests cimport RequestParser
from server.client.client cimport Client, Waiter
from server.client.command_queue cimport CommandQueue
from server.client.endpoint cimport Endpoint
from server.client.pushes cimport Pushes
from server.dispatch cimport execution
from server.dispatch.admission cimport Admission
from server.parts.waiting.blocking cimport Blocking, Runner
from server.parts.eviction.client_eviction cimport ClientEviction
from server.dispatch.command_lookup cimport CommandLookup
from server.dispatch.execution cimport Execution
from server.dispatch.replaying cimport Replaying
from server.dispatch.long_scripts cimport LongScripts
from server.parts.restrictions cimport Restrictions
from server.parts.waiting.shared_reply cimport SharedReply
from server.parts.state cimport ServerState
from server.process.timekeeper cimport Timekeeper
from server.dispatch.turn cimport Turn
from server.parts.propagation.propagation cimport Propagation
from server.parts.scripting.script_run cimport ScriptRun
from server.parts.scripting.scripting cimport Scripting
from server.table.command cimport Block, Command
from storage.keyspace.keyspace cimport Keyspace

cdef Py_ssize_t LOOK_AHEAD

cdef int READONLY
cdef int NOT_QUEUED
cdef int RUNS_QUEUE
cdef int RUNS_SCRIPTS
cdef int RUNS_OTHERS
cdef int IN_MULTI
cdef int MUTED
cdef int HEARS
cdef int TRACKING
cdef int RESTRICTED
cdef int REPLICA
cdef int CLIENT
cdef int WOKEN


cdef class Dispatcher(Runner):
    cdef readonly ServerState state
    cdef Timekeeper _timekeeper
    cdef readonly Turn turn
    cdef object _timers
    cdef public bint is_behind
    cdef object _clock
    cdef Restrictions _restrictions
    cdef Propagation _propagation
    cdef Admission _admission
    cdef ClientEviction _client_eviction
    cdef Execution _execution
    cdef LongScripts _long_scripts
    cdef readonly CommandLookup lookup
    cdef readonly Replaying replaying
    cdef Blocking _blocking
    cdef Pushes _pushes
    cdef Scripting _scripting
    cdef SharedReply _shared

    @cython.locals(command=Command, must_check=bint)
    cpdef execute(self, Client client, list argv)
    cdef bint _runs_script(self, Client client, Command command) except -1
    @cython.locals(waits=bint)
    cdef _finish(self, Client client, Command command, list argv, object reply)
    cdef _park(self, Client client, list argv, Block block)
    cdef _answer(self, Client client, object reply)
    cdef _answer_rare(self, Client client, object reply)
    cdef Command _look_up(self, Client client, list argv)
    @cython.locals(flags=int)
    cdef bint _admit(self, Client client, Command command, list argv) except -1
    cdef _refuse(self, Client client, object error)
    cdef _reject(self, Client client, Command command, object error)
    @cython.locals(command=Command, db=Keyspace, keys=list, place=Py_ssize_t)
    cpdef Py_ssize_t look_ahead(self, Client client, RequestParser parser) except -1
    @cython.locals(is_free=bint, count=Py_ssize_t)
    cpdef queue_alike(self, Client client, RequestParser parser)
    cpdef serve_ready(self)
    @cython.locals(now=Restrictions)
    cdef bint _holds_waiters(self) except -1
    cpdef serve_keyless(self)
    @cython.locals(client=Client, argv=list, command=Command, must_check=bint)
    cpdef Block run_again(self, Waiter waiter)
    @cython.locals(shared=SharedReply)
    cdef object _run_woken(self, Client client, Command command, list argv)
    cpdef Encoder run_queued(self, Client client, CommandQueue queue)
    @cython.locals(command=Command, origin=int)
    cpdef object run_inside(self, Client client, list argv, ScriptRun run)
    cpdef count_error(self, object error)
    @cython.locals(command=Command)
    cpdef object may_run(self, Client client, list argv)
    cpdef go_on_with_script(self)
    @cython.locals(client=Client, command=Command)
    cpdef end_wait(self, object waiter, object reply)
    cpdef begin_pause(self, object timeout_ms, bint writes_only)
    @cython.locals(client=Client)
    cpdef end_pause(self)
    cpdef clock_moved(self)
