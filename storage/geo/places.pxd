cimport cython
from libc.stdint cimport int64_t

from octets cimport buffers
from storage cimport octets
from storage.geo cimport place_marks, place_order
from storage.listpack.listpack cimport Element, Listpack
from storage.sorted_sets cimport score_octets
from storage.sorted_sets.leaf cimport Leaf
from storage.sorted_sets.sorted_set cimport SortedSet

cdef int LEAF_SHIFT
cdef int64_t AT_MASK
cdef Py_ssize_t START


@cython.final
@cython.no_gc
cdef class Places:
    cdef readonly Py_ssize_t count
    cdef readonly double distance
    cdef readonly double score
    cdef readonly bint is_int
    cdef readonly int64_t number
    cdef readonly bytearray data
    cdef readonly Py_ssize_t start
    cdef readonly Py_ssize_t size
    cdef SortedSet _values
    cdef bytearray _marks
    cdef Element _element

    cpdef void add(self, double distance, double score, int64_t spot) except *
    cpdef void sort(self, int order, Py_ssize_t first) except *
    @cython.locals(spot=int64_t, pack=Listpack, element=Element)
    cpdef void go(self, Py_ssize_t at) except *
    @cython.locals(leaf=Leaf, offset=Py_ssize_t)
    cdef void _go_in_tree(self, int64_t spot) except *
    cpdef bytes member(self)
