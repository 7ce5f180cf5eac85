cimport cython
from libc.stdint cimport uint64_t

from storage cimport allocation
from storage.stream cimport lane_chains

cdef Py_ssize_t _TABLE
cdef Py_ssize_t _CHAIN
cdef Py_ssize_t _FEW
cdef Py_ssize_t _KEPT
cdef Py_ssize_t _SPARSE
cdef int _JOINED


@cython.final
@cython.no_gc
cdef class LaneTable:
    cdef readonly Py_ssize_t size
    cdef lane_chains.Chains _chains
    cdef Py_ssize_t _count
    cdef Py_ssize_t _half
    cdef uint64_t _missed

    @cython.locals(chain=Py_ssize_t)
    cpdef clear(self)
    @cython.locals(chain=Py_ssize_t, found=list)
    cpdef list items(self)
    cpdef object find(self, uint64_t number)
    cpdef bint has(self, uint64_t number) except -1
    cpdef bint add(self, uint64_t number, object item) except -1
    cpdef bint remove(self, uint64_t number, object item) except -1
    @cython.locals(chain=Py_ssize_t)
    cdef inline Py_ssize_t _chain_of(self, uint64_t number) noexcept
    @cython.locals(new=Py_ssize_t)
    cdef _split(self)
    @cython.locals(last=Py_ssize_t)
    cdef _join(self)
    cdef _make_room(self, Py_ssize_t chains)
