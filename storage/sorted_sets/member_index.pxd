cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t

from storage.hash_table cimport mark_octets
from storage.hash_table.directory cimport Directory
from storage.sorted_sets.index_segment cimport IndexSegment
from storage.sorted_sets.leaf cimport Leaf

cdef Py_ssize_t NONE
cdef int LEAF_SHIFT
cdef Py_ssize_t MERGE_FROM


@cython.final
cdef class MemberIndex(Directory):
    cdef list _leaves

    @cython.locals(segment=IndexSegment, marks=bytearray, end=Py_ssize_t, mark=Py_ssize_t,
                   number=int64_t, leaf=Leaf, at=Py_ssize_t)
    cdef int64_t find(self, bytes member, uint32_t prefix) except? -1
    @cython.locals(segment=IndexSegment)
    cdef int add(self, uint64_t prefix, uint32_t leaf) except -1
    @cython.locals(segment=IndexSegment)
    cdef int move(self, uint64_t prefix, uint32_t old, uint32_t new) except -1
    @cython.locals(segment=IndexSegment)
    cdef int remove(self, uint64_t prefix, uint32_t leaf) except -1
    cdef IndexSegment _segment_of(self, uint64_t prefix)
