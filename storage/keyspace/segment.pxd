cimport cython
from libc.stdint cimport uint32_t, uint64_t

from storage.keyspace cimport segment_octets


@cython.final
@cython.no_gc
cdef class Segment:
    cdef readonly int local_depth
    cdef readonly bytearray marks
    cdef readonly list pairs

    cpdef Py_ssize_t first_from(self, uint64_t prefix) except -1
    @cython.locals(offset=uint64_t)
    cdef Py_ssize_t _guess(self, uint64_t prefix) noexcept
    @cython.locals(marks=bytearray, guess=Py_ssize_t, at=Py_ssize_t, end=Py_ssize_t)
    cpdef Py_ssize_t find(self, bytes key, uint32_t prefix) except? -1
    cdef bytes key_at(self, Py_ssize_t at)
    cdef uint32_t prefix_at(self, Py_ssize_t at) noexcept
    cpdef list keys(self, Py_ssize_t first, Py_ssize_t end)
    cpdef list items(self)
    @cython.locals(end=Py_ssize_t, size=Py_ssize_t)
    cdef Py_ssize_t end_of_page(self, Py_ssize_t first, Py_ssize_t count) except -1
    cdef int insert(
        self, Py_ssize_t at, bytes key, object value, uint32_t prefix, uint32_t last_use
    ) except -1
    cdef object remove(self, Py_ssize_t at)
    @cython.locals(part=Segment)
    cdef Segment part(self, Py_ssize_t first, Py_ssize_t end)
    @cython.locals(joined=Segment)
    cdef Segment joined(self, Segment after)
