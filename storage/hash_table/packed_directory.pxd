cimport cython
from libc.stdint cimport uint64_t

from storage.hash_table cimport mark_octets
from storage.hash_table.directory cimport Directory
from storage.hash_table.packed_bucket cimport PackedBucket


cdef class PackedDirectory(Directory):
    @cython.locals(prefix=uint64_t)
    cpdef bint has(self, bytes key) except -1
    @cython.final
    cdef int remove_at(self, PackedBucket bucket, Py_ssize_t at, uint64_t prefix) except -1
    @cython.final
    cdef int _split_if_long(self, PackedBucket bucket, uint64_t prefix) except -1
    @cython.final
    cdef PackedBucket _packed_bucket(self, uint64_t prefix)
