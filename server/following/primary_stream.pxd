cimport cython

from protocol.requests cimport RequestParser
from server.client.client cimport Client
from server.dispatch.dispatcher cimport Dispatcher
from server.parts.replication.feed cimport Feed

cdef int IN_MULTI


@cython.final
cdef class PrimaryStream:
    cdef readonly Client client
    cdef Dispatcher _dispatcher
    cdef Feed _feed
    cdef RequestParser _parser
    cdef list _pending
    cdef Py_ssize_t _size
    cdef object _failures

    @cython.locals(argv=list, done=Py_ssize_t)
    cpdef take(self, bytes data)
    @cython.locals(whole=bytes, rest=bytes)
    cdef _pass_on(self, Py_ssize_t done)
    cdef _run(self, list argv)
