cimport cython
from libc.stdint cimport int64_t

cdef bytes BYINT
cdef bytes BYFLOAT
cdef bytes LBOUND
cdef bytes UBOUND
cdef bytes SATURATE
cdef bytes PERSIST
cdef bytes ENX


@cython.final
@cython.no_gc
@cython.freelist(4)
cdef class IncrexOptions:
    cdef readonly bytes increment
    cdef readonly bint by_float
    cdef readonly bytes least
    cdef readonly bytes greatest
    cdef readonly bint saturates
    cdef readonly bytes unit
    cdef readonly bytes duration
    cdef readonly bint persists
    cdef readonly bint keeps

    cdef bint _take_alone(self, bytes word) except -1
    cdef int _take(self, bytes word, bytes value) except -1
    cpdef int64_t when_ms(self, int64_t now_ms) except? -1
