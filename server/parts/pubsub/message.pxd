cimport cython

from protocol.encoder cimport Encoder

cdef Encoder _EMPTY


@cython.final
@cython.no_gc  # it holds bytes: no cycles
@cython.freelist(8)
cdef class Message:
    cdef list _words
    cdef bytes _resp2
    cdef bytes _resp3

    cpdef bytes encoded(self, int resp)


@cython.locals(out=Encoder, word=bytes)
cdef bytes _encode(list words, int resp)
