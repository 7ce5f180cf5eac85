cimport cython
from libc.stdint cimport uint64_t


cdef class Propagation:
    cdef object _durability
    cdef list _sinks
    cdef readonly bint is_on
    cdef public list ops
    cdef public uint64_t stream_offset

    cdef _follow_sinks(self)
    cpdef add(self, int db, list argv)
    @cython.locals(ops=list)
    cpdef object deliver(self)
    cpdef deliver_each(self)
