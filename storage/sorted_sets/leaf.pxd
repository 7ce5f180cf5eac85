cimport cython
from libc.stdint cimport int64_t, uint32_t

from octets cimport buffers
from storage cimport allocation, octets
from storage.sorted_sets cimport score_octets
from storage.sorted_sets.bound cimport Bound

cdef Py_ssize_t NONE
cdef Py_ssize_t SPLIT_ABOVE
cdef Py_ssize_t MERGE_UP_TO
cdef Py_ssize_t SPLIT_ABOVE_BYTES
cdef Py_ssize_t MERGE_UP_TO_BYTES
cdef Py_ssize_t HOLES_SHARE
cdef Py_ssize_t OBJECT


@cython.final
@cython.no_gc
cdef class Leaf:
    cdef readonly bytearray marks
    cdef readonly bytearray data
    cdef readonly uint32_t holes
    cdef readonly int number
    cdef public int before
    cdef public int behind

    cdef int64_t _room(self) except -1
    @cython.locals(marks=bytearray, end=Py_ssize_t, at=Py_ssize_t)
    cdef Py_ssize_t find(self, bytes member, uint32_t prefix) except? -1
    @cython.locals(low=Py_ssize_t, high=Py_ssize_t, middle=Py_ssize_t)
    cdef Py_ssize_t count_before(self, Bound bound) except -1
    @cython.locals(offset=Py_ssize_t, start=Py_ssize_t)
    cpdef bytes member_at(self, Py_ssize_t at)

    @cython.locals(before=int64_t, offset=Py_ssize_t)
    cdef int insert(
        self, Py_ssize_t at, double score, uint32_t prefix, bytes member
    ) except -1
    @cython.locals(before=int64_t, at=Py_ssize_t, offset=Py_ssize_t)
    cdef int remove(self, Py_ssize_t first, Py_ssize_t end) except -1
    @cython.locals(marks=bytearray)
    cdef bint keeps_place(self, Py_ssize_t at, double score) noexcept
    @cython.locals(before=int64_t, here=Py_ssize_t, count=Py_ssize_t)
    cdef int take(self, Leaf source, Py_ssize_t first) except -1
    @cython.locals(marks=bytearray, size=Py_ssize_t, end=Py_ssize_t, at=Py_ssize_t,
                   offset=Py_ssize_t)
    cdef int _take_texts(self, Leaf source, Py_ssize_t first) except -1
    @cython.locals(packed=Leaf)
    cdef int _write_anew(self) except -1

    cdef Py_ssize_t _live(self) noexcept
    @cython.locals(members=Py_ssize_t)
    cdef bint is_long(self) except -1
    @cython.locals(members=Py_ssize_t)
    cdef bint may_join(self, Leaf after) except -1
