cimport cython
from libc.stdint cimport int64_t, uint64_t

from storage cimport allocation, octets
from storage.side_data cimport deadline_octets
from storage.stream cimport stream_id
from storage.stream.stream_id cimport StreamId

cdef int64_t NONE
cdef Py_ssize_t BYTES
cdef Py_ssize_t FEW


@cython.final
cdef class DeadlineRun:
    cdef bytearray _records
    cdef Py_ssize_t _first
    cdef Py_ssize_t _end
    cdef Py_ssize_t _room
    cdef Py_ssize_t _counted
    cdef readonly Py_ssize_t size

    @cython.locals(records=bytearray, last=Py_ssize_t, latest_ms=int64_t, ms=uint64_t)
    cpdef bint add(self, StreamId entry_id, int64_t deadline_ms) except -1
    cdef int _grow(self) except -1
    @cython.locals(at=Py_ssize_t, deadline_ms=int64_t)
    cpdef int64_t remove(self, StreamId entry_id) except -1
    @cython.locals(at=Py_ssize_t)
    cpdef int64_t deadline_of(self, StreamId entry_id) except -1
    cpdef int forget_first(self) except -1
    cdef int _forget(self, Py_ssize_t at) except -1
    cpdef int64_t first_deadline(self) except -1
    @cython.locals(ms=uint64_t)
    cpdef bint begins_before(self, StreamId entry_id) except -1
    @cython.locals(found=list, at=Py_ssize_t, deadline_ms=int64_t)
    cpdef list pairs(self, int64_t until_ms, Py_ssize_t most)
    cdef StreamId _id_at(self, Py_ssize_t at)
    @cython.locals(low=Py_ssize_t, high=Py_ssize_t, middle=Py_ssize_t, ms=uint64_t, seq=uint64_t)
    cdef Py_ssize_t _find(self, StreamId entry_id) noexcept
    @cython.locals(records=bytearray, end=Py_ssize_t)
    cdef int _shorten(self) except -1
    @cython.locals(old=bytearray, kept=bytearray, end=Py_ssize_t, at=Py_ssize_t,
                   deadline_ms=int64_t, ms=uint64_t, seq=uint64_t)
    cdef int _close_up(self) except -1
    @cython.locals(size=Py_ssize_t)
    cdef int _count(self) except -1
