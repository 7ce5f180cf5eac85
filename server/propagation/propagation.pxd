cimport cython
from libc.stdint cimport uint64_t


cdef class Propagation:
    cdef readonly object durability
    cdef set _messages
    cdef list _sinks
    cdef readonly bint is_on
    cdef public list ops
    cdef public uint64_t stream_offset

    cdef _follow_sinks(self)
    cpdef add(self, int db, list argv)
    cpdef publish(self, int db, list argv)
    @cython.locals(ops=list)
    cpdef object deliver(self)
    cdef list _without_messages(self, list ops)
    cpdef deliver_each(self)
