cimport cython

from protocol.encoder cimport Encoder
from server cimport socket_calls
from server.endpoint cimport Endpoint
from server.selector cimport Selector, Watcher

cdef unsigned int READING
cdef unsigned int DRAINING
cdef unsigned int HAS_ENDED


cdef class Transport(Watcher):
    cdef readonly object sock
    cdef int _fd
    cdef Selector _selector
    cdef Endpoint _endpoint
    cdef bytearray _unsent
    cdef bint _closing

    cpdef open(self)
    cpdef Py_ssize_t unsent(self) except -1
    @cython.locals(endpoint=Endpoint, data=bytes)
    cdef _receive(self, unsigned int events)
    cdef _look_again(self)
    cdef _drain(self)
    @cython.locals(taken=Py_ssize_t)
    cdef _send_unsent(self)
    cpdef write(self, Encoder out)
    @cython.locals(size=Py_ssize_t, taken=Py_ssize_t)
    cdef _send(self, Endpoint endpoint, Encoder out)
    cpdef close(self)
    @cython.locals(endpoint=Endpoint)
    cpdef abort(self)
