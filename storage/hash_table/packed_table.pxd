cimport cython
from libc.stdint cimport int64_t, uint64_t

from storage.chance cimport Chance
from storage.hash_table cimport mark_octets
from storage.hash_table.packed_directory cimport PackedDirectory
from storage.hash_table.packed_iterator cimport PackedIterator
from storage.hash_table.packed_segment cimport PackedSegment


@cython.final
cdef class PackedTable(PackedDirectory):
    @cython.locals(prefix=uint64_t, segment=PackedSegment, at=Py_ssize_t)
    cpdef object get(self, bytes key, object default=*)
    @cython.locals(prefix=uint64_t, segment=PackedSegment, at=Py_ssize_t)
    cpdef bint set(self, bytes key, bytes value) except -1
    @cython.locals(prefix=uint64_t, segment=PackedSegment, at=Py_ssize_t, value=bytes)
    cpdef object pop(self, bytes key, object default=*)
    @cython.locals(place=int64_t, at=Py_ssize_t, segment=PackedSegment, key=bytes)
    cpdef bytes pop_random(self, Chance chance)
    @cython.locals(prefix=uint64_t, segment=PackedSegment, at=Py_ssize_t)
    cpdef bint discard(self, bytes key) except -1

    cpdef int clear(self) except -1
    @cython.locals(copy=PackedTable, slot=Py_ssize_t)
    cpdef PackedTable copy(self)
    cpdef PackedIterator iterate(self)

    cdef PackedSegment _segment_of(self, uint64_t prefix)
    cdef PackedSegment _segment_at(self, Py_ssize_t slot)
