cimport cython
from libc.stdint cimport uint64_t

from storage cimport allocation
from storage.hash_table cimport mark_octets
from storage.stream cimport lane_octets
from storage.stream.lane_segment cimport LaneSegment

cdef Py_ssize_t _TABLE
cdef Py_ssize_t _MOST
cdef Py_ssize_t _FEW
cdef int _DEEPEST


@cython.final
@cython.no_gc
cdef class LaneTable:
    cdef readonly Py_ssize_t size
    cdef int _depth
    cdef list _directory
    cdef uint64_t _free_for
    cdef LaneSegment _free_in
    cdef Py_ssize_t _free_at

    @cython.locals(found=list, at=Py_ssize_t, segment=LaneSegment)
    cpdef list items(self)
    @cython.locals(segment=LaneSegment, at=Py_ssize_t)
    cpdef object find(self, uint64_t number)
    @cython.locals(segment=LaneSegment, at=Py_ssize_t)
    cpdef object add(self, uint64_t number, object item)
    @cython.locals(segment=LaneSegment)
    cpdef int replace(self, uint64_t number, object item) except -1
    @cython.locals(segment=LaneSegment, at=Py_ssize_t)
    cpdef bint remove(self, uint64_t number, object item) except -1
    cdef inline Py_ssize_t _place_of(self, uint64_t number) noexcept
    cdef inline LaneSegment _segment_of(self, uint64_t number)
    @cython.locals(full=LaneSegment, depth=int, parts=list, part=LaneSegment, at=Py_ssize_t,
                   each=uint64_t, width=Py_ssize_t, start=Py_ssize_t)
    cdef _split(self, uint64_t number)
    @cython.locals(old=list, at=Py_ssize_t)
    cdef _double(self)
    @cython.locals(one=LaneSegment, first=LaneSegment, second=LaneSegment, both=LaneSegment,
                   part=LaneSegment, at=Py_ssize_t, each=uint64_t, width=Py_ssize_t,
                   start=Py_ssize_t)
    cdef _merge(self, uint64_t number)
