cimport cython
from libc.stdint cimport int64_t

from server.observe.part cimport Part
from server.process cimport ticks
from server.table.command cimport Command


@cython.final
cdef class LoopTimes(Part):
    cdef object _stats
    cdef object _commands
    cdef readonly object rates
    cdef int64_t _first_ns
    cdef int64_t _first_ticks
    cdef int64_t _begun
    cdef int64_t _busy
    cdef int64_t _most_us
    cdef readonly int64_t cycles

    cpdef begin(self)
    cpdef end(self)
