cimport cython
from libc.stdint cimport uint64_t


@cython.final
cdef class LazyFreeing:
    cdef public bint of_expired
    cdef public bint of_evicted
    cdef public bint of_replaced
    cdef public uint64_t count

    cpdef note(self, object value)
