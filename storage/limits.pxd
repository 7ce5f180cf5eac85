cimport cython
from libc.stdint cimport int64_t


@cython.final
@cython.no_gc
cdef class ListpackLimits:
    cdef public int64_t entries
    cdef public int64_t value


@cython.final
cdef class SetLimits:
    cdef public int64_t intset_entries
    cdef public int64_t listpack_entries
    cdef public int64_t listpack_value
