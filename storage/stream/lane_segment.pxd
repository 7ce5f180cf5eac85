cimport cython
from libc.stdint cimport uint64_t

from storage cimport allocation
from storage.hash_table cimport mark_octets
from storage.rdb cimport raw

cdef Py_ssize_t _SEGMENT
cdef Py_ssize_t _PLACE


@cython.final
@cython.no_gc
cdef class LaneSegment:
    cdef readonly int depth
    cdef readonly Py_ssize_t size
    cdef list _items
    cdef bytearray _numbers

    cpdef Py_ssize_t places(self) except -1
    cpdef bint is_full(self) except -1
    cpdef object item_at(self, Py_ssize_t at)
    cpdef uint64_t number_at(self, Py_ssize_t at) noexcept
    @cython.locals(mask=Py_ssize_t, at=Py_ssize_t, held=uint64_t)
    cpdef Py_ssize_t place_of(self, uint64_t number) except -1
    cpdef int put(self, Py_ssize_t at, uint64_t number, object item) except -1
    cpdef int add(self, Py_ssize_t at, uint64_t number, object item) except -1
    @cython.locals(mask=Py_ssize_t, at=Py_ssize_t, number=uint64_t)
    cpdef int remove(self, Py_ssize_t gap) except -1
    @cython.locals(items=list, numbers=bytearray, at=Py_ssize_t, number=uint64_t)
    cpdef int grow(self) except -1
    @cython.locals(items=list, numbers=bytearray)
    cdef int _make_places(self, Py_ssize_t places) except -1
