cimport cython
from libc.stdint cimport int64_t, uint64_t


@cython.final
cdef class Clock:
    cdef public int64_t now_ms


@cython.final
cdef class Lookup:
    cdef public bint no_touch
    cdef public bint by_writes
    cdef public bint spares_pages
    cdef public bint hides_expired
    cdef public bint keeps_expired


@cython.final
cdef class LooseKeys:
    cdef public Py_ssize_t count
    cdef public Py_ssize_t many


@cython.final
cdef class LazyFreeing:
    cdef public bint of_expired
    cdef public bint of_evicted
    cdef public bint of_replaced
    cdef public uint64_t count
    cdef readonly list doomed

    cpdef note(self, object value)
