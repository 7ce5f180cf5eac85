cimport cython
from libc.stdint cimport int64_t

from octets cimport buffers
from storage cimport octets
from storage.listpack.listpack cimport Element, Listpack
from storage.sorted_sets cimport score_listpack, score_octets
from storage.sorted_sets.leaf cimport Leaf
from storage.sorted_sets.score_tree cimport ScoreTree

cdef Py_ssize_t NONE
cdef int LEAF_SHIFT
cdef int64_t AT_MASK


@cython.final
@cython.no_gc
@cython.freelist(4)
cdef class ScoreWalk:
    cdef readonly bint is_int
    cdef readonly int64_t number
    cdef readonly bytearray data
    cdef readonly Py_ssize_t start
    cdef readonly Py_ssize_t size
    cdef readonly double score
    cdef bint _reverse
    cdef Listpack _pack
    cdef ScoreTree _tree
    cdef Leaf _leaf
    cdef Element _element
    cdef Py_ssize_t _at
    cdef Py_ssize_t _end

    @cython.locals(leaf=Leaf)
    cdef int _enter(self, int64_t spot) except -1
    @cython.locals(leaf=Leaf, offset=Py_ssize_t)
    cpdef bint next(self) except -1
    @cython.locals(number=int64_t)
    cdef bint _next_leaf(self) except -1
    @cython.locals(at=Py_ssize_t, behind=Py_ssize_t, element=Element)
    cdef bint _next_in_listpack(self, Listpack pack) except -1
    cpdef bytes member(self)


@cython.locals(made=ScoreWalk)
cpdef ScoreWalk begin(Listpack pack, ScoreTree tree, Py_ssize_t rank, bint reverse)
