cimport cython

from protocol.encoder cimport Encoder
from server.network cimport socket_calls
from server.client.endpoint cimport Endpoint
from server.network.selector cimport Selector, Watcher

cdef unsigned int READING
cdef unsigned int DRAINING
cdef unsigned int HAS_ENDED


cdef class Transport(Watcher):
    cdef readonly object sock
    cdef int _fd
    cdef Selector _selector
    cdef Endpoint _endpoint
    cdef list _pieces
    cdef Py_ssize_t _first
    cdef Py_ssize_t _taken
    cdef Py_ssize_t _unsent
    cdef bint _closing

    cpdef open(self)
    cpdef Py_ssize_t unsent(self) except -1
    @cython.locals(endpoint=Endpoint, data=bytes)
    cdef _receive(self, unsigned int events)
    cdef _look_again(self)
    cdef _drain(self)
    @cython.locals(taken=Py_ssize_t)
    cdef _send_pieces(self)
    @cython.locals(left=Py_ssize_t)
    cdef _pass_over(self, Py_ssize_t taken)
    cpdef write(self, Encoder out)
    @cython.locals(size=Py_ssize_t, taken=Py_ssize_t)
    cdef _send(self, Encoder out)
    cdef _collect(self, Encoder out)
    cdef _await_room(self)
    cpdef close(self)
    @cython.locals(endpoint=Endpoint)
    cpdef abort(self)
