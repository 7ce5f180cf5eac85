cimport cython
from libc.stdint cimport int64_t, uint64_t

from storage cimport allocation
from storage.listpack.listpack cimport Listpack
from storage.limits cimport ListpackLimits
from storage.sorted_sets cimport score_listpack, score_walk
from storage.sorted_sets.bound cimport Bound
from storage.sorted_sets.score_tree cimport ScoreTree
from storage.sorted_sets.score_walk cimport ScoreWalk

cdef Py_ssize_t NONE
cdef Py_ssize_t HEADS
cdef Py_ssize_t MOST
cdef Py_ssize_t OBJECT
cdef Py_ssize_t FEW


@cython.final
@cython.no_gc
@cython.freelist(16)
cdef class SortedSet:
    cdef readonly Listpack pack
    cdef readonly ScoreTree tree

    cpdef Py_ssize_t length(self) except -1
    @cython.locals(pack=Listpack, at=Py_ssize_t, tree=ScoreTree, spot=int64_t)
    cpdef object score_of(self, bytes member)
    @cython.locals(pack=Listpack, at=Py_ssize_t, tree=ScoreTree, spot=int64_t)
    cpdef Py_ssize_t rank_of(self, bytes member) except? -1
    @cython.locals(pack=Listpack, tree=ScoreTree, spot=int64_t, old=double)
    cpdef object put(self, bytes member, double score, ListpackLimits limits)
    @cython.locals(at=Py_ssize_t, old=double, size=Py_ssize_t, tree=ScoreTree)
    cdef object _put_in_pack(
        self, Listpack pack, bytes member, double score, ListpackLimits limits
    )
    @cython.locals(pack=Listpack, at=Py_ssize_t, tree=ScoreTree, spot=int64_t)
    cpdef bint remove(self, bytes member) except -1
    cpdef Py_ssize_t rank(self, Bound bound) except -1
    cpdef Py_ssize_t rank_from(self, Py_ssize_t rank, Bound bound) except -1
    cpdef ScoreWalk walk(self, Py_ssize_t rank, bint reverse)
    @cython.locals(tree=ScoreTree)
    cpdef void remove_range(self, Py_ssize_t first, Py_ssize_t end) except *
    cpdef tuple scan(self, uint64_t cursor, Py_ssize_t count)
    @cython.locals(walk=ScoreWalk)
    cpdef tuple pair_at(self, Py_ssize_t rank)
    @cython.locals(made=SortedSet)
    cpdef SortedSet copy(self)
    @cython.locals(tree=ScoreTree)
    cpdef ScoreTree as_tree(self)
    cpdef int shrink(self) except -1


@cython.locals(made=SortedSet)
cpdef SortedSet of_pack(Listpack pack)
