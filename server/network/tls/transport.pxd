cimport cython

from protocol.encoder cimport Encoder
from server.client cimport closed
from server.client.endpoint cimport Endpoint
from server.network.send_queue cimport SendQueue
from server.network.transport cimport Transport

cdef Py_ssize_t RECORD
cdef Py_ssize_t PORTION


@cython.final
cdef class TlsTransport(Transport):
    cdef Transport _below
    cdef object _incoming
    cdef object _outgoing
    cdef object _session
    cdef object _decipher
    cdef object _encipher
    cdef Endpoint _endpoint
    cdef Encoder _sealed
    cdef SendQueue _queue
    cdef readonly bint is_open
    cdef bint _is_paused
    cdef bint _is_closing
    cdef bint _has_ended

    cpdef take(self, bytes data)
    cpdef shake_hands(self)
    cpdef open(self, Endpoint endpoint)
    cpdef received(self, bytes data)
    cdef _decrypt(self, Py_ssize_t size)
    @cython.locals(endpoint=Endpoint, size=Py_ssize_t, data=bytes, has_more=bint)
    cdef _read_records(self, Py_ssize_t most)
    cpdef ended(self)
    @cython.locals(left=Py_ssize_t)
    cdef _write_portions(self)
    @cython.locals(size=Py_ssize_t)
    cdef _encrypt(self, data)
    cdef _send_sealed(self)
    cdef _say_goodbye(self)
    cpdef paused(self)
    cpdef sent_some(self)
    cpdef resumed(self)
    cpdef lost(self)
