cimport cython

from server.network.epoll cimport socket_calls
from server.network.transport cimport Transport

cdef int MANY
cdef int MOST_TURNS


cdef class Selector:
    cdef object _loop
    cdef object _epoll
    cdef list _transports
    cdef list _at_end
    cdef bint _in_turn

    cpdef watch(self, int fd, Transport transport, unsigned int events)
    cpdef expect(self, int fd, unsigned int events)
    cpdef forget(self, int fd)
    @cython.locals(count=int, at=int, transport=Transport)
    cpdef turn(self)
    cdef _tell(self, Transport transport, unsigned int events)
    cpdef at_end_of_turn(self, object call)
