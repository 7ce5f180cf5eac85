cimport cython

from octets cimport buffers
from storage.hash_table cimport mark_octets, packed_octets
from storage.hash_table.directory cimport Directory
from storage.hash_table.packed_segment cimport PackedSegment


@cython.final
cdef class PackedIterator:
    cdef Directory _table
    cdef PackedSegment _segment
    cdef Py_ssize_t _slot
    cdef Py_ssize_t _at
    cdef Py_ssize_t _items
    cdef readonly bytearray data
    cdef readonly bytes far_key
    cdef readonly bytes far_value
    cdef readonly Py_ssize_t key_start
    cdef readonly Py_ssize_t key_size
    cdef readonly Py_ssize_t value_start
    cdef readonly Py_ssize_t value_size

    @cython.locals(segment=PackedSegment)
    cdef int _enter(self, Py_ssize_t slot) except -1
    @cython.locals(segment=PackedSegment, data=bytearray, offset=Py_ssize_t, start=Py_ssize_t)
    cpdef bint next(self) except -1
    @cython.locals(slot=Py_ssize_t)
    cdef bint _next_segment(self) except -1
    cpdef bytes key(self)
    cpdef bytes value(self)
