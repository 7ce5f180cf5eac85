cimport cython
from libc.stdint cimport int64_t, uint64_t

from storage cimport allocation, octets
from storage.stream.stream_id cimport StreamId
from storage.xxh3 cimport Halves

cdef Py_ssize_t OBJECT
cdef Py_ssize_t PRODUCER
cdef Py_ssize_t KNOWN
cdef uint64_t _U64
cdef dict _streams
cdef list _seconds
cdef Py_ssize_t _alive


@cython.final
cdef class Limits:
    cdef public int64_t seconds
    cdef public int64_t ids


@cython.final
cdef class Known:
    cdef readonly dict entries
    cdef list _order
    cdef Py_ssize_t _first

    cpdef bytes oldest(self)
    cpdef list names(self)
    cpdef int add(self, bytes name, StreamId entry_id) except -1
    cpdef int remove(self, bytes name) except -1


@cython.final
cdef class Producers:
    cdef object __weakref__
    cdef readonly int64_t seconds
    cdef readonly int64_t ids
    cdef public int64_t added
    cdef public int64_t duplicates
    cdef readonly int64_t tracked
    cdef dict _by_name
    cdef object _due_s

    cpdef Py_ssize_t count(self) except -1
    @cython.locals(known=Known, entry_id=StreamId)
    cpdef StreamId find(self, bytes producer, bytes name, int64_t now_ms)
    @cython.locals(known=Known)
    cpdef bint knows(self, bytes producer, bytes name) except -1
    cpdef int record(self, bytes producer, bytes name, StreamId entry_id) except -1
    @cython.locals(known=Known)
    cpdef int restore(self, bytes producer, bytes name, StreamId entry_id) except -1
    cpdef bint set_limits(self, int64_t seconds, int64_t ids) except -1
    @cython.locals(known=Known, producer=bytes)
    cpdef int expire(self, int64_t now_ms) except -1
    cpdef Producers copy(self)
    cdef bint _is_old(self, StreamId entry_id, uint64_t now_ms) except -1
    cdef int _forget(self, Known known, bytes name) except -1
    @cython.locals(known=Known, name=bytes)
    cdef int _forget_producer(self, bytes producer) except -1
    cdef int _forget_all(self) except -1
    cdef int _note_due(self, StreamId entry_id) except -1
    @cython.locals(known=Known)
    cpdef int look_again(self, int64_t now_ms, object due_s) except -1


@cython.locals(halves=Halves, sum_low=uint64_t, sum_high=uint64_t, mixed_low=uint64_t,
               mixed_high=uint64_t, low=uint64_t, high=uint64_t, at=Py_ssize_t, name=bytes)
cpdef bytes content_of(list fields, Py_ssize_t start)
cdef bytes _length_of(bytes name)
cdef int _count(Py_ssize_t made) except -1
