cimport cython

from octets cimport buffers
from protocol.encoder cimport Encoder

cdef Py_ssize_t SHORT
cdef Py_ssize_t MANY


@cython.final
cdef class SendQueue:
    cdef readonly Py_ssize_t size
    cdef list pieces
    cdef Py_ssize_t first
    cdef Py_ssize_t taken
    cdef bytearray _open

    @cython.locals(size=Py_ssize_t, piece=bytearray, end=Py_ssize_t)
    cpdef add(self, Encoder out)
    @cython.locals(left=Py_ssize_t)
    cpdef pass_over(self, Py_ssize_t count)
    @cython.locals(start=Py_ssize_t, size=Py_ssize_t)
    cpdef take(self, Py_ssize_t most)
    cpdef clear(self)
