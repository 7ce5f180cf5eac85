cimport cython
from libc.stdint cimport int64_t, uint64_t

from protocol.encoder cimport Encoder
from protocol.requests cimport RequestParser
from server.process cimport memory_reserve, ticks
from server.dispatch.blocking cimport Runner
from server.dispatch.call cimport Call
from server.client.client cimport Client, Waiter
from server.table.command cimport Block, Command
from server.client.command_queue cimport CommandQueue
from server.client.endpoint cimport Endpoint
from server.propagation.propagation cimport Propagation
from server.dispatch.shared_reply cimport SharedReply
from server.dispatch.state cimport ServerState
from storage.keyspace.journal cimport Journal

cdef int WRITE
cdef int READONLY
cdef int DATA
cdef int DENYOOM
cdef int NO_AUTH
cdef int NO_MULTI
cdef int NOT_QUEUED
cdef int LOADING
cdef int IN_MULTI
cdef int MUTED
cdef int UNAUTHENTICATED
cdef int64_t COMPARE_EVERY_NS

cdef _write(Encoder out, object reply)


cdef class Dispatcher(Runner):
    cdef readonly ServerState state
    cdef Propagation _propagation
    cdef public list unblocked
    cdef public object at_end_of_turn
    cdef list _to_send
    cdef object _wall_ms
    cdef dict _spellings
    cdef list _ready
    cdef Call _call
    cdef SharedReply _shared
    cdef object _failures
    cdef int64_t _tick
    cdef int64_t _wall_ahead
    cdef int64_t _compare_at

    cpdef begin_batch(self)
    @cython.locals(now_ms=int64_t)
    cdef _tell_time(self)
    cdef _compare_clocks(self)
    @cython.locals(command=Command)
    cpdef execute(self, Client client, list argv)
    @cython.locals(state=ServerState, count=Py_ssize_t)
    cpdef queue_alike(self, Client client, RequestParser parser)
    @cython.locals(command=Command)
    cpdef object replay(self, Client client, list argv)
    cpdef serve_ready(self)
    cdef bint _holds_waiters(self) except -1
    cpdef serve_keyless(self)
    @cython.locals(client=Client)
    cpdef settle(self)
    cpdef send_later(self, Endpoint connection)
    cdef _await_end_of_turn(self)
    @cython.locals(to_send=list, connection=Endpoint, at=Py_ssize_t)
    cpdef send_all(self)
    cdef _refuse_what_needs_memory(self)
    cpdef send_now(self, Endpoint connection)
    cdef _keep(self, list connections)
    @cython.locals(connection=Endpoint, client=Client)
    cdef _refuse_unkept(self, object error, list connections, uint64_t synced_offset)
    @cython.locals(call=Call, client=Client, replies=Encoder, command=Command, running=Command,
                   times=Py_ssize_t)
    cpdef Encoder run_inside(self, CommandQueue queue)
    @cython.locals(client=Client, command=Command)
    cpdef end_wait(self, object waiter, object reply)
    cpdef end_pause(self)
    @cython.locals(command=Command)
    cdef Command _look_up(self, Client client, list argv)
    cdef _refuse(self, Client client, object error)
    cdef _reject(self, Client client, Command command, object error)
    cdef bint _admit(self, Client client, Command command, list argv) except -1
    cdef _run(self, Client client, Command command, list argv)
    cdef _park(self, Client client, list argv, Block block)
    @cython.locals(call=Call, journal=Journal)
    cdef object _perform(self, Client client, Command command, list argv)
    cdef bint _hides_expired(self, Command command) except -1
    cdef object _handle(self, Command command, Call call, list argv, uint64_t changes)
    cdef _must_be_whole(self, Command command, object error, uint64_t changes)
    @cython.locals(state=ServerState)
    cdef object _refusal(self, Client client, Command command)
    cdef _propagate(self, Call call, list argv, Command command)
    cdef _deliver(self, Client client)
    @cython.locals(tick=int64_t)
    cdef _count(self, Command command, Py_ssize_t times)
    @cython.locals(client=Client, argv=list, command=Command)
    cpdef Block run_again(self, Waiter waiter)
    @cython.locals(shared=SharedReply)
    cdef object _perform_woken(self, Client client, Command command, list argv)
    cdef _answer(self, Client client, object reply)
