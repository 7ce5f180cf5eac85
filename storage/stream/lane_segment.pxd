cimport cython
from libc.stdint cimport uint64_t

from storage cimport allocation
from storage.hash_table cimport mark_octets
from storage.stream cimport lane_octets

cdef Py_ssize_t _SEGMENT
cdef Py_ssize_t _PLACE


@cython.final
@cython.no_gc
cdef class LaneSegment:
    cdef readonly int depth
    cdef readonly Py_ssize_t size
    cdef readonly Py_ssize_t mask
    cdef readonly list items
    cdef readonly bytearray numbers

    cpdef Py_ssize_t place_of(self, uint64_t number) except -1
    cpdef int put(self, Py_ssize_t at, uint64_t number, object item) except -1
    cpdef int put_new(self, Py_ssize_t at, uint64_t number, object item) except -1
    cpdef int add(self, uint64_t number, object item) except -1
    @cython.locals(items=list, numbers=bytearray, mask=Py_ssize_t, at=Py_ssize_t)
    cpdef int remove(self, Py_ssize_t gap) except -1
    @cython.locals(items=list, numbers=bytearray, at=Py_ssize_t, number=uint64_t)
    cpdef int grow(self) except -1
    @cython.locals(items=list, numbers=bytearray)
    cdef int _make_places(self, Py_ssize_t places) except -1
