cimport cython
from libc.stdint cimport uint64_t


cdef class Durability:
    cdef public uint64_t offset
    cdef public uint64_t synced_offset
    cdef public bint tentative
    cdef public str error

    cpdef add_all(self, list ops)
    cpdef bint write(self) except -1


cdef class Propagation:
    cdef readonly Durability durability
    cdef set _messages
    cdef list _sinks
    cdef public bint has_unwritten
    cdef readonly bint is_on
    cdef public list ops
    cdef public uint64_t stream_offset

    cdef _follow_sinks(self)
    cpdef add(self, int db, list argv)
    cpdef publish(self, int db, list argv)
    @cython.locals(ops=list, kept=list, durability=Durability)
    cpdef uint64_t deliver(self) except? -1
    cdef list _without_messages(self, list ops)
    cpdef deliver_each(self)
