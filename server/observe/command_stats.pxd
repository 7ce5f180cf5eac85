cimport cython
from libc.stdint cimport uint64_t

from server.observe.latency_histogram cimport LatencyHistogram
from server.observe.part cimport Part
from server.table.command cimport Command


@cython.final
cdef class CommandCount:
    cdef readonly LatencyHistogram latencies
    cdef public uint64_t calls
    cdef public uint64_t nanoseconds
    cdef public uint64_t rejected
    cdef public uint64_t failed
    cdef public uint64_t slow
    cdef public uint64_t slow_us
    cdef public uint64_t slowest_us

    cpdef reset(self)


@cython.final
cdef class CommandStats(Part):
    cdef list _counts

    @cython.locals(number=Py_ssize_t, counts=list)
    cpdef CommandCount of(self, Command command)
