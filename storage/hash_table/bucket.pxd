cimport cython
from libc.stdint cimport uint32_t, uint64_t

from storage.hash_table cimport mark_octets


@cython.no_gc
cdef class Bucket:
    cdef readonly int local_depth
    cdef readonly bytearray marks

    @cython.locals(marks=bytearray)
    cpdef Py_ssize_t first_from(self, uint64_t prefix) except -1
    cdef uint32_t prefix_at(self, Py_ssize_t at) noexcept
    @cython.locals(end=Py_ssize_t, size=Py_ssize_t)
    cdef Py_ssize_t end_of_page(self, Py_ssize_t first, Py_ssize_t count) except -1
    cdef list keys(self, Py_ssize_t first, Py_ssize_t end)
    cdef list flat_items(self, Py_ssize_t first, Py_ssize_t end)
    cdef bint is_long(self) except -1
    cdef bint may_join(self, Bucket after) except -1
    cdef Bucket part(self, Py_ssize_t first, Py_ssize_t end)
    cdef Bucket joined(self, Bucket after)
