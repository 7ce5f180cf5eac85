cimport cython

from server.client.endpoint cimport Endpoint
from server.network.acceptor cimport Acceptor
from server.network.epoll cimport socket_calls
from server.network.epoll.selector cimport Selector
from server.network.epoll.transport cimport EpollTransport

cdef int ACCEPTED_AT_ONCE


cdef class Listener:
    cdef object _sock
    cdef Selector _selector
    cdef Acceptor _acceptor
    cdef int _own_keep_alive_s
    cdef object _listening
    cdef bint _is_unix
    cdef bint _are_late
    cdef str _address

    cdef _follow_config(self)
    @cython.locals(accepted=tuple)
    cpdef accept(self)
    @cython.locals(transport=EpollTransport, endpoint=Endpoint, local=str)
    cdef _let_in(self, int fd, str peer)
    cpdef close(self)
