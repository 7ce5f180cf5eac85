cimport cython
from libc.stdint cimport int64_t

from storage cimport octets


cdef int64_t MANY_SECONDS
cdef int64_t _INT64_MAX


@cython.locals(number=int64_t)
cpdef int64_t to_int(bytes text, object error=*) except? -1
@cython.locals(seconds=int64_t, number=double)
cpdef int64_t to_timeout_s(bytes text, int64_t now_ms) except? -1
cpdef int64_t to_timeout_ms(bytes text, int64_t now_ms) except? -1
cdef int64_t _checked_timeout(int64_t timeout_ms, int64_t now_ms) except? -1


@cython.final
@cython.no_gc
@cython.freelist(4)
cdef class Args:
    cdef readonly list argv
    cdef public Py_ssize_t at

    cpdef Py_ssize_t left(self) except? -1
    cpdef bytes take(self)
    cpdef bint skip(self, bytes word) except -1
    cpdef int64_t take_int(self, object error=*) except? -1
    cpdef int64_t take_positive(self, object error) except? -1
    cpdef list rest(self)
