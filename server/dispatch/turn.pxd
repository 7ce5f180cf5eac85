cimport cython
from libc.stdint cimport uint64_t

from server.client cimport closed
from server.client.client cimport Client
from server.client.end_of_turn cimport EndOfTurn
from server.client.endpoint cimport Endpoint
from server.parts.waiting.blocking cimport Blocking
from server.parts.eviction.client_eviction cimport ClientEviction
from server.dispatch.execution cimport Execution
from server.dispatch.waits cimport Waits
from server.parts.restrictions cimport Restrictions
from server.process.timekeeper cimport Timekeeper
from server.parts.eviction.value_packing cimport ValuePacking
from server.observe.loop_times cimport LoopTimes
from server.process cimport memory_reserve
from server.parts.propagation.propagation cimport Durability, Propagation


@cython.final
cdef class Turn(EndOfTurn):
    cdef readonly Waits waits
    cdef Blocking _blocking
    cdef Timekeeper _timekeeper
    cdef Execution _execution
    cdef Propagation _propagation
    cdef dict _clients
    cdef Restrictions _restrictions
    cdef ClientEviction _client_eviction
    cdef ValuePacking _value_packing
    cdef LoopTimes _loop_times
    cdef Endpoint _first_to_send
    cdef Endpoint _last_to_send
    cdef Client _first_to_resume
    cdef Client _last_to_resume
    cdef object _finish
    cdef bint _is_on
    cdef public object loop

    cpdef begin(self)
    cpdef end(self)
    cpdef run(self, object call)
    cpdef run_later(self, object call)
    cpdef enter(self)
    cdef _await_end(self)
    cpdef finish(self)
    @cython.locals(rest=Client, client=Client, endpoint=Endpoint)
    cdef _resume_all(self)
    @cython.locals(rest=Endpoint, connection=Endpoint)
    cdef _send_all(self)
    cdef _refuse_what_needs_memory(self)
    cpdef send_now(self, Endpoint connection)
    @cython.locals(durability=Durability)
    cdef _write_log(self, Endpoint connection)
    @cython.locals(waiting=Endpoint, client=Client)
    cdef _refuse_answers(self, object error, Endpoint connection, uint64_t synced_offset)
