cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t

from storage cimport allocation
from storage.keyspace cimport segment_octets
from storage.keyspace.segment cimport Segment

cdef int64_t NO_KEY
cdef Py_ssize_t SPLIT_ABOVE
cdef Py_ssize_t MERGE_UP_TO
cdef Py_ssize_t KEYS_PER_SLOT
cdef Py_ssize_t PLACE
cdef Py_ssize_t OBJECT


@cython.final
cdef class KeyTable:
    cdef list _directory
    cdef int _shift
    cdef readonly Py_ssize_t used
    cdef Py_ssize_t _deepest_pairs
    cdef int64_t _held

    @cython.locals(prefix=uint64_t, segment=Segment, at=Py_ssize_t)
    cpdef object get(self, bytes key, object default=*)
    @cython.locals(prefix=uint64_t, segment=Segment, at=Py_ssize_t)
    cpdef object use(self, bytes key, uint32_t last_use)
    @cython.locals(prefix=uint64_t, segment=Segment, at=Py_ssize_t)
    cpdef int64_t last_use_of(self, bytes key) except? -1
    @cython.locals(prefix=uint64_t, segment=Segment, at=Py_ssize_t, old=object)
    cpdef int set(self, bytes key, object value, uint32_t last_use=*) except -1
    @cython.locals(prefix=uint64_t, segment=Segment, at=Py_ssize_t)
    cpdef object pop(self, bytes key, object default=*)
    cpdef int grew(self, int64_t size) except -1
    cpdef int clear(self) except -1
    cdef Segment _segment_of(self, uint64_t prefix)

    @cython.locals(slot=Py_ssize_t, page=list, segment=Segment, first=Py_ssize_t, end=Py_ssize_t)
    cpdef tuple scan(self, uint64_t cursor, Py_ssize_t count)
    @cython.locals(segment=Segment)
    cpdef object random_key(self, object below)
    @cython.locals(slot=Py_ssize_t, first=Py_ssize_t, keys=list, segment=Segment)
    cpdef list sample(self, object below, Py_ssize_t count)
    @cython.locals(slot=Py_ssize_t)
    cdef Segment _random_segment(self, object below)

    cdef Py_ssize_t _block(self, Py_ssize_t slot) except -1
    @cython.locals(block=Py_ssize_t)
    cdef Py_ssize_t _next_slot(self, Py_ssize_t slot) except -1
    @cython.locals(slot=Py_ssize_t)
    cdef int _assign(self, Py_ssize_t first, Py_ssize_t block, Segment segment) except -1
    @cython.locals(block=Py_ssize_t, half=Py_ssize_t, low_slot=Py_ssize_t, high_slot=Py_ssize_t,
                   middle=Py_ssize_t, segment=Segment, low=Segment, high=Segment)
    cdef void _split(self, Py_ssize_t slot) except *
    @cython.locals(block=Py_ssize_t, low=Segment, high=Segment)
    cdef void _merge(self, Py_ssize_t slot) except *
    @cython.locals(slots=Py_ssize_t)
    cdef bint _double(self) except -1
    @cython.locals(slot=Py_ssize_t)
    cdef int _halve(self) except -1
