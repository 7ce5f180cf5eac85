cimport cython
from libc.stdint cimport uint32_t, uint64_t

from storage.hash_table cimport mark_octets
from storage.hash_table.bucket cimport Bucket
from storage.keyspace cimport segment_octets

cdef Py_ssize_t SPLIT_ABOVE
cdef Py_ssize_t MERGE_UP_TO


# Not final, since Cython lets no final class override a method.
@cython.no_gc
cdef class Segment(Bucket):
    cdef readonly list pairs

    @cython.locals(marks=bytearray, guess=Py_ssize_t, at=Py_ssize_t, end=Py_ssize_t)
    cdef Py_ssize_t find(self, bytes key, uint32_t prefix) except? -1
    cdef list keys(self, Py_ssize_t first, Py_ssize_t end)
    cdef list flat_items(self, Py_ssize_t first, Py_ssize_t end)
    cdef int insert(
        self, Py_ssize_t at, bytes key, object value, uint32_t prefix, uint32_t last_use
    ) except -1
    cdef object remove(self, Py_ssize_t at)
    cdef bint is_long(self) except -1
    cdef bint is_short(self) except -1
    cdef bint may_join(self, Bucket after) except -1
    @cython.locals(part=Segment)
    cdef Bucket part(self, Py_ssize_t first, Py_ssize_t end)
    @cython.locals(joined=Segment, second=Segment)
    cdef Bucket joined(self, Bucket after)
