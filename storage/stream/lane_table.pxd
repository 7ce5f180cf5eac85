cimport cython
from libc.stdint cimport uint64_t

from storage cimport allocation
from storage.hash_table cimport mark_octets
from storage.rdb cimport raw

cdef Py_ssize_t _TABLE
cdef Py_ssize_t _PLACE
cdef Py_ssize_t _KEPT
cdef int _BITS
cdef int _FEW_BITS
cdef uint64_t _U64
cdef uint64_t _FACTOR


@cython.final
@cython.no_gc
cdef class LaneTable:
    cdef readonly Py_ssize_t size
    cdef int _shift
    cdef list _items
    cdef bytearray _numbers

    cpdef list items(self)
    cpdef object find(self, uint64_t number)
    @cython.locals(at=Py_ssize_t)
    cpdef object add(self, uint64_t number, object item)
    cpdef int replace(self, uint64_t number, object item) except -1
    @cython.locals(at=Py_ssize_t)
    cpdef bint remove(self, uint64_t number, object item) except -1
    @cython.locals(places=Py_ssize_t, items=list, numbers=bytearray)
    cdef int _make_places(self, int shift) except -1
    cdef Py_ssize_t _first_place(self, uint64_t number) noexcept
    cdef uint64_t _number_at(self, Py_ssize_t at) noexcept
    cdef int _put(self, Py_ssize_t at, uint64_t number, object item) except -1
    @cython.locals(mask=Py_ssize_t, at=Py_ssize_t, held=uint64_t)
    cdef Py_ssize_t _place_of(self, uint64_t number) except -1
    @cython.locals(mask=Py_ssize_t, at=Py_ssize_t, first=Py_ssize_t, number=uint64_t)
    cdef int _close(self, Py_ssize_t gap) except -1
    cdef _shrink(self)
    @cython.locals(items=list, numbers=bytearray, at=Py_ssize_t, number=uint64_t)
    cdef int _resize(self, int shift) except -1
