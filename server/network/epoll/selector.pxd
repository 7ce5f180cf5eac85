cimport cython
from libc.stdint cimport int64_t

from server.dispatch.turn cimport Turn
from server.network.epoll cimport socket_calls
from server.network.transport cimport Transport
from server.process cimport ticks

cdef int64_t NS_A_MS
cdef int64_t LONGEST_STAY_NS
cdef int TURNS_OF_THE_LOOP


cdef class Reader(Transport):
    cdef object _call


@cython.final
cdef class Selector:
    cdef object _loop
    cdef object _epoll
    cdef int _fd
    cdef list _transports
    cdef Turn _turn
    cdef int64_t _loop_due_ns
    cdef int64_t _leave_at_ns
    cdef int _turns_without_stay
    cdef bint _loop_has_work
    cdef int _calls_due
    cdef int _bell

    cpdef watch(self, int fd, Transport transport, unsigned int events)
    cpdef expect(self, int fd, unsigned int events)
    cpdef forget(self, int fd)
    cpdef tell_turns(self, Turn turn)
    cpdef turn(self)
    @cython.locals(count=int, at=int, transport=Transport, turn=Turn)
    cdef int _serve(self, int wait_ms) except -1
    cdef _tell(self, Transport transport, unsigned int events)
    @cython.locals(wait_ms=int)
    cdef _stay(self)
    @cython.locals(left=int64_t)
    cdef int _ms_to_stay(self) noexcept
