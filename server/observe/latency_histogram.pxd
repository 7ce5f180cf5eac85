cimport cython
from libc.stdint cimport int64_t, uint64_t

from storage cimport octets

cdef int64_t LONGEST_NS
cdef Py_ssize_t BUCKETS
cdef Py_ssize_t COUNT

@cython.locals(shift=int)
cdef Py_ssize_t bucket_of(int64_t ns) noexcept


@cython.final
cdef class LatencyHistogram:
    cdef bytearray _counts
    cdef readonly uint64_t calls

    cpdef reset(self)
    @cython.locals(counts=bytearray, at=Py_ssize_t)
    cpdef record(self, int64_t ns)
    @cython.locals(found=list, counts=bytearray, wanted=list, bucket=Py_ssize_t, counted=int64_t,
                   rank=int64_t)
    cpdef list percentiles(self, object percents)
