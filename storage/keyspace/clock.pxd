cimport cython
from libc.stdint cimport int64_t


@cython.final
cdef class Clock:
    cdef public int64_t now_ms
