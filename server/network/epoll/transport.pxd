cimport cython

from protocol.encoder cimport Encoder
from server.client cimport closed
from server.client.endpoint cimport Endpoint
from server.network.epoll cimport socket_calls
from server.network.epoll.selector cimport Selector
from server.network.send_queue cimport SendQueue
from server.network.transport cimport Transport

cdef unsigned int READING
cdef unsigned int DRAINING
cdef unsigned int ONLY_DRAINING
cdef unsigned int HELD
cdef unsigned int MAY_SEND
cdef unsigned int MAY_RECEIVE
cdef unsigned int HAS_ENDED


cdef class EpollTransport(Transport):
    cdef Selector _selector
    cdef Endpoint _endpoint
    cdef SendQueue _queue
    cdef bint _closing
    cdef bint _is_held

    cpdef open(self, Endpoint endpoint)
    @cython.locals(endpoint=Endpoint, data=bytes)
    cdef _receive(self, unsigned int events)
    @cython.locals(size=Py_ssize_t, room=Py_ssize_t)
    cdef _receive_into(self, Endpoint endpoint, unsigned int events)
    cdef _look_again(self)
    @cython.locals(endpoint=Endpoint)
    cdef _drain(self)
    @cython.locals(queue=SendQueue, taken=Py_ssize_t)
    cdef _send_pieces(self)
    @cython.locals(size=Py_ssize_t, taken=Py_ssize_t)
    cdef _send(self, Encoder out)
    @cython.locals(endpoint=Endpoint)
    cdef _await_room(self)
    @cython.locals(reads=bint)
    cdef _follow_queue(self)
