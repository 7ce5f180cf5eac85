cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t

from storage cimport allocation
from storage.hash_table cimport mark_octets
from storage.hash_table.directory cimport Directory
from storage.keyspace.segment cimport Segment
from storage.keyspace.usage cimport Usage

cdef int64_t NO_KEY
cdef Py_ssize_t PLACE
cdef Py_ssize_t OBJECT


@cython.final
cdef class KeyTable(Directory):
    cdef int64_t _held

    @cython.locals(prefix=uint64_t, segment=Segment, at=Py_ssize_t)
    cpdef object get(self, bytes key, object default=*)
    @cython.locals(prefix=uint64_t, segment=Segment, at=Py_ssize_t)
    cpdef object use(self, bytes key, uint32_t last_use)
    @cython.locals(prefix=uint64_t, segment=Segment, at=Py_ssize_t, last_use=uint32_t)
    cpdef object count_use(self, bytes key, Usage usage)
    @cython.locals(prefix=uint64_t, segment=Segment, at=Py_ssize_t)
    cpdef int64_t last_use_of(self, bytes key) except? -1
    @cython.locals(prefix=uint64_t, segment=Segment, at=Py_ssize_t, old=object)
    cpdef int set(self, bytes key, object value, uint32_t last_use=*) except -1
    @cython.locals(prefix=uint64_t, segment=Segment, at=Py_ssize_t)
    cpdef object pop(self, bytes key, object default=*)
    cpdef bytes key_at(self, int64_t place)
    cpdef int grew(self, int64_t size) except -1
    cpdef int clear(self) except -1
    cdef Segment _segment_of(self, uint64_t prefix)
    cdef Segment segment_at(self, int64_t place)
