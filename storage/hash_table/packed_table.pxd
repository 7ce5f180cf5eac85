cimport cython
from libc.stdint cimport int64_t, uint64_t

from storage cimport allocation
from storage.hash_table cimport mark_octets
from storage.hash_table.directory cimport Directory
from storage.hash_table.packed_iterator cimport PackedIterator
from storage.hash_table.packed_segment cimport PackedSegment

cdef Py_ssize_t OBJECT
cdef Py_ssize_t SLOT


@cython.final
cdef class PackedTable(Directory):
    cdef Py_ssize_t _slots_held

    @cython.locals(prefix=uint64_t)
    cpdef bint has(self, bytes key) except -1
    @cython.locals(prefix=uint64_t, segment=PackedSegment, at=Py_ssize_t)
    cpdef object get(self, bytes key, object default=*)
    @cython.locals(prefix=uint64_t, segment=PackedSegment, at=Py_ssize_t)
    cpdef bint set(self, bytes key, bytes value) except -1
    @cython.locals(prefix=uint64_t, segment=PackedSegment, at=Py_ssize_t, value=bytes)
    cpdef object pop(self, bytes key, object default=*)
    @cython.locals(prefix=uint64_t, segment=PackedSegment, at=Py_ssize_t)
    cpdef bint discard(self, bytes key) except -1
    cdef int _remove(self, PackedSegment segment, Py_ssize_t at, uint64_t prefix) except -1

    cpdef int clear(self) except -1
    @cython.locals(copy=PackedTable, slot=Py_ssize_t)
    cpdef PackedTable copy(self)
    cpdef PackedIterator iterate(self)

    cdef PackedSegment _segment_of(self, uint64_t prefix)
    cdef PackedSegment _segment_at(self, Py_ssize_t slot)
    @cython.locals(held=Py_ssize_t)
    cdef int _count_slots(self) except -1
