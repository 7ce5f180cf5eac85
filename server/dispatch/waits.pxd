cimport cython
from libc.stdint cimport int64_t, uint64_t

from protocol.encoder cimport Encoder
from server.client.client cimport Client, Waiter
from server.client.end_of_turn cimport EndOfTurn
from server.client.pushes cimport Pushes
from server.dispatch.admission cimport Admission
from server.dispatch.execution cimport Execution
from server.parts.propagation.propagation cimport Propagation
from server.parts.restrictions cimport Restrictions
from server.parts.waiting.blocking cimport Blocking
from server.parts.waiting.pausing cimport Pausing
from server.parts.waiting.shared_reply cimport SharedReply
from server.process.timekeeper cimport Timekeeper
from server.table.command cimport Block, Command

cdef int READONLY
cdef int HEARS
cdef int RESTRICTED
cdef int TRACKING
cdef int WOKEN


@cython.final
cdef class Waits:
    cdef Admission _admission
    cdef Execution _execution
    cdef Timekeeper _timekeeper
    cdef EndOfTurn _turn
    cdef Blocking _blocking
    cdef Pausing _pausing
    cdef Propagation _propagation
    cdef Pushes _pushes
    cdef Restrictions _restrictions
    cdef SharedReply _shared

    cpdef park(self, Client client, list argv, Block block)
    @cython.locals(waiter=Waiter)
    cpdef serve_ready(self)
    @cython.locals(now=Restrictions)
    cdef bint _are_held(self) except -1
    @cython.locals(waiter=Waiter)
    cpdef read_on(self)
    @cython.locals(waiter=Waiter)
    cpdef serve_keyless(self)
    @cython.locals(waiter=Waiter)
    cpdef serve_replicated(self, uint64_t offset)
    @cython.locals(client=Client, argv=list, command=Command, block=Block, now_ms=int64_t)
    cdef _run_again(self, Waiter waiter)
    @cython.locals(shared=SharedReply)
    cdef object _run_woken(self, Client client, Command command, list argv, bint by_pattern)
    @cython.locals(waiter=Waiter)
    cpdef end_over(self, int64_t now_ms)
    @cython.locals(client=Client, command=Command)
    cpdef end(self, Waiter waiter, object reply)
    cpdef begin_pause(self, object timeout_ms, bint writes_only)
    cpdef end_pause(self)
    cpdef hold_writes(self)
    cpdef end_hold(self)
    @cython.locals(client=Client)
    cdef _resume(self, list held)
