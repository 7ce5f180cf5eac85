cimport cython

from protocol.encoder cimport Encoder


@cython.final
cdef class Message:
    cdef list _words
    cdef bytes _resp2
    cdef bytes _resp3

    cpdef bytes encoded(self, int resp)
