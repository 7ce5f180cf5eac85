cimport cython
from libc.stdint cimport int64_t, uint64_t

from protocol.encoder cimport Encoder
from server.client.client cimport Client
from server.client.command_queue cimport CommandQueue
from server.dispatch.call cimport Call
from server.parts.server_key_events cimport ServerKeyEvents
from server.parts.restrictions cimport Restrictions
from server.parts.state cimport ServerState
from server.process.timekeeper cimport Timekeeper
from server.client.pushes cimport Pushes
from server.observe.command_stats cimport CommandCount, CommandStats
from server.observe.command_times cimport CommandTimes
from server.observe.monitors cimport Monitors
from server.process cimport memory_reserve
from server.parts.propagation.propagation cimport Propagation
from server.parts.replication.confirmations cimport Confirmations
from server.table.command cimport Block, Command
from storage.keyspace.settings cimport Clock, Lookup

cdef int WRITE
cdef int RUNS_SCRIPTS
cdef int TOUCHES_DATA
cdef int HIDDEN_FROM_MONITORS
cdef int NOT_SHOWN
cdef int SCRIPT
cdef int TRACKING
cdef int MUTED
cdef int ACKS
cdef int ANSWERED_APART
cdef int REPLICA
cdef int RESTRICTED
cdef int EXEC
cdef int LOG
cdef int PRIMARY
cdef int REPLAYED
cdef list NO_WORDS

cpdef write(Encoder out, object reply)
cpdef drop(object reply)


@cython.final
cdef class Execution:
    cdef ServerState _state
    cdef object _access
    cdef ServerKeyEvents _events
    cdef Clock _clock
    cdef Lookup _lookup
    cdef Restrictions _restrictions
    cdef Timekeeper _timekeeper
    cdef object _executor
    cdef Propagation _propagation
    cdef Confirmations _confirmations
    cdef Monitors _monitors
    cdef CommandTimes _times
    cdef CommandStats _stats
    cdef Pushes _pushes
    cdef list _calls
    cdef int64_t _inner_ns
    cdef Py_ssize_t _depth
    cdef object _failures
    cdef object _replay_failures

    @cython.locals(state=ServerState, call=Call, outer=list)
    cpdef object run(self, Client client, Command command, list argv, int origin)
    cdef bint _hides_expired(self, Command command, int origin) except -1
    @cython.locals(count=CommandCount)
    cdef object _handle(self, Command command, Call call, uint64_t changes)
    cdef _check_unchanged(self, Command command, object error, uint64_t changes)
    cpdef note_failures(self)
    cdef _show(self, Client client, Command command, list argv, int origin)
    cdef _propagate(self, Call call, Command command)
    @cython.locals(replies=Encoder, command=Command, argv=list, origin=int, whole_ns=int64_t)
    cpdef Encoder run_queued(self, Client client, CommandQueue queue)
    @cython.locals(call=Call)
    cpdef int origin_in_script(self) except -1
    @cython.locals(took_ns=int64_t)
    cpdef object run_called(self, Client client, Command command, list argv, int origin)
    cdef object _denied(self, Client client, Command command, list argv)
    cpdef replay(self, Client client, Command command, list argv)
    cpdef object apply(self, Client client, Command command, list argv)
    cpdef finish(self, Client client, Command command, list argv, bint waits)
    cpdef answer(self, Client client, object reply)
    @cython.locals(start=Py_ssize_t)
    cdef _answer_rare(self, Client client, object reply)
    @cython.locals(count=CommandCount, ns=int64_t)
    cpdef int64_t count(self, Client client, Command command, list argv, bint waits) except -1
    cdef int64_t _now_s(self) except -1
    @cython.locals(count=CommandCount)
    cpdef object rejected(self, Command command, object error)
    @cython.locals(count=CommandCount)
    cpdef object failed(self, Command command, object error)
    cpdef object counted(self, object error)
