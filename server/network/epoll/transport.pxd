cimport cython

from protocol.encoder cimport Encoder
from server.client cimport closed
from server.client.endpoint cimport Endpoint
from server.network.epoll cimport socket_calls
from server.network.epoll.selector cimport Selector
from server.network.transport cimport Transport

cdef unsigned int READING
cdef unsigned int DRAINING
cdef unsigned int HELD
cdef unsigned int HAS_ENDED


cdef class EpollTransport(Transport):
    cdef Selector _selector
    cdef Endpoint _endpoint
    cdef list _pieces
    cdef Py_ssize_t _first
    cdef Py_ssize_t _taken
    cdef Py_ssize_t _unsent
    cdef bint _closing
    cdef bint _is_held

    cpdef open(self, Endpoint endpoint)
    @cython.locals(endpoint=Endpoint, data=bytes)
    cdef _receive(self, unsigned int events)
    @cython.locals(size=Py_ssize_t, room=Py_ssize_t)
    cdef _receive_into(self, Endpoint endpoint, unsigned int events)
    cdef _look_again(self)
    cdef _drain(self)
    @cython.locals(taken=Py_ssize_t)
    cdef _send_pieces(self)
    @cython.locals(left=Py_ssize_t)
    cdef _pass_over(self, Py_ssize_t taken)
    @cython.locals(size=Py_ssize_t, taken=Py_ssize_t)
    cdef _send(self, Encoder out)
    cdef _collect(self, Encoder out)
    cdef _await_room(self)
