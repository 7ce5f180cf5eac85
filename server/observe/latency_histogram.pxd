cimport cython
from libc.stdint cimport int64_t, uint64_t

from server.observe cimport histogram_octets

cdef int64_t LONGEST_NS
cdef Py_ssize_t BUCKETS


@cython.final
cdef class LatencyHistogram:
    cdef bytearray _counts
    cdef readonly uint64_t calls

    cpdef reset(self)
    cpdef record(self, int64_t ns)
