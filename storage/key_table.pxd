cimport cython
from libc.stdint cimport int64_t, uint64_t

cdef int PLACE_BITS
cdef int64_t MIDDLE
cdef Py_ssize_t SPLIT_ABOVE
cdef Py_ssize_t MERGE_UP_TO
cdef Py_ssize_t FULL_SEGMENT_BYTES
cdef Py_ssize_t TIDY_EVERY
cdef Py_ssize_t KEYS_PER_SLOT
cdef object ABSENT


cdef uint64_t place_of(bytes key) noexcept

@cython.locals(last=uint64_t)
cdef Py_ssize_t with_ties(list ordered, Py_ssize_t count)

@cython.locals(fresh=dict)
cdef dict packed(dict segment, dict other)


@cython.final
cdef class KeyTable:
    cdef list _directory
    cdef int _shift
    cdef readonly Py_ssize_t used
    cdef Py_ssize_t _forks
    cdef Py_ssize_t _removals

    cpdef object get(self, bytes key, object default=*)
    @cython.locals(segment=dict, before=Py_ssize_t)
    cpdef int set(self, bytes key, object value) except -1
    @cython.locals(segment=dict)
    cpdef object pop(self, bytes key, object default=*)
    cpdef int clear(self) except -1
    cdef dict _segment_of(self, bytes key)

    @cython.locals(slot=Py_ssize_t, page=list, ahead=list, fitting=Py_ssize_t, key=bytes)
    cpdef tuple scan(self, uint64_t cursor, Py_ssize_t count)
    cpdef object random_key(self, object below)
    @cython.locals(slot=Py_ssize_t, first=Py_ssize_t, keys=list)
    cpdef list sample(self, object below, Py_ssize_t count)
    @cython.locals(slot=Py_ssize_t)
    cdef dict _random_segment(self, object below)

    @cython.locals(segment=dict, block=Py_ssize_t)
    cdef Py_ssize_t _block(self, Py_ssize_t slot) except -1
    @cython.locals(block=Py_ssize_t)
    cdef Py_ssize_t _next_slot(self, Py_ssize_t slot) except -1
    @cython.locals(slot=Py_ssize_t)
    cdef int _assign(self, Py_ssize_t first, Py_ssize_t block, dict segment) except -1
    @cython.locals(block=Py_ssize_t, half=Py_ssize_t, low_slot=Py_ssize_t, high_slot=Py_ssize_t,
                   boundary=uint64_t, low=dict, high=dict, key=bytes)
    cdef void _split(self, Py_ssize_t slot) except *
    @cython.locals(block=Py_ssize_t, other_slot=Py_ssize_t, segment=dict, other=dict, divided=bint)
    cdef void _merge(self, Py_ssize_t slot) except *
    @cython.locals(segment=dict, block=Py_ssize_t)
    cdef int _tidy(self, Py_ssize_t slot) except -1
    @cython.locals(slots=Py_ssize_t)
    cdef bint _double(self) except -1
    @cython.locals(slot=Py_ssize_t)
    cdef int _halve(self) except -1
