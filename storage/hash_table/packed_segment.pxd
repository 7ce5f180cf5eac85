cimport cython
from libc.stdint cimport uint32_t

from storage.hash_table cimport mark_octets, packed_octets
from storage.hash_table.packed_bucket cimport PackedBucket


# Not final, since Cython lets no final class override a method. Methods that are called here are.
@cython.no_gc
cdef class PackedSegment(PackedBucket):
    cdef PackedBucket another(self, int local_depth)
    cdef Py_ssize_t end_of(self, Py_ssize_t offset) except -1
    cdef int drop_far_of(self, Py_ssize_t offset) except -1
    @cython.locals(start=Py_ssize_t)
    cdef int take_far_of(self, PackedBucket source, Py_ssize_t offset, Py_ssize_t to) except -1

    cdef object copy_at(self, Py_ssize_t at)
    @cython.final
    cdef bytes value_at(self, Py_ssize_t at)
    @cython.final
    cdef Py_ssize_t _value_start(self, Py_ssize_t at) noexcept

    @cython.final
    @cython.locals(space=Py_ssize_t, offset=Py_ssize_t)
    cdef int insert(self, Py_ssize_t at, bytes key, bytes value, uint32_t prefix) except -1
    @cython.final
    @cython.locals(start=Py_ssize_t, data=bytearray, size=Py_ssize_t, was_far=bint)
    cdef int replace(self, Py_ssize_t at, bytes value) except -1
    @cython.final
    @cython.locals(kept=Py_ssize_t, offset=Py_ssize_t)
    cdef int _renew(self, Py_ssize_t at, Py_ssize_t start, bytes value) except -1
