cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t

from storage cimport allocation
from storage.hash_table cimport mark_octets, packed_octets
from storage.sorted_sets cimport bound as bounds
from storage.sorted_sets cimport score_octets
from storage.sorted_sets.bound cimport Bound
from storage.sorted_sets.branch cimport Branch
from storage.sorted_sets.leaf cimport Leaf
from storage.sorted_sets.member_index cimport MemberIndex

cdef Py_ssize_t NONE
cdef int LEAF_SHIFT
cdef int64_t AT_MASK
cdef Py_ssize_t OBJECT
cdef Py_ssize_t _LONGEST


@cython.final
@cython.no_gc
cdef class ScoreTree:
    # Branches count members in 32 bits, and the index leaves: 2**32 members take 128 GB.
    cdef readonly list leaves
    cdef readonly int first
    cdef readonly int last
    cdef list _free
    cdef Py_ssize_t _held
    cdef MemberIndex _index
    cdef object _root
    cdef int _height

    cpdef Py_ssize_t length(self) except -1
    cpdef int64_t find(self, bytes member) except? -1
    @cython.locals(leaf=Leaf)
    cpdef double score_at(self, int64_t spot) except? -1
    @cython.locals(leaf=Leaf)
    cpdef bytes member_at(self, int64_t spot)
    cpdef Leaf leaf_of(self, int64_t spot)
    @cython.locals(height=int, rank=Py_ssize_t, branch=Branch, child=Py_ssize_t, leaf=Leaf)
    cpdef Py_ssize_t rank(self, Bound bound) except -1
    @cython.locals(spot=int64_t, leaf=Leaf, at=Py_ssize_t)
    cpdef Py_ssize_t rank_from(self, Py_ssize_t rank, Bound bound) except -1
    @cython.locals(height=int, branch=Branch, child=Py_ssize_t, leaf=Leaf, number=int64_t)
    cpdef int64_t spot_of(self, Py_ssize_t rank) except -1

    @cython.locals(bound=Bound, root=Branch)
    cpdef int add(self, bytes member, double score) except -1
    @cython.locals(branch=Branch, at=Py_ssize_t)
    cdef object _add(self, object node, int height, Bound bound, uint32_t prefix)
    @cython.locals(at=Py_ssize_t)
    cdef Leaf _add_to_leaf(self, Leaf leaf, Bound bound, uint32_t prefix)
    @cython.locals(members=Py_ssize_t, first=Py_ssize_t, made=Leaf)
    cdef Leaf _split(self, Leaf leaf, Py_ssize_t newest)
    @cython.locals(at=Py_ssize_t)
    cdef int _moved(self, Leaf leaf, Py_ssize_t first, uint32_t old) except -1
    @cython.locals(leaf=Leaf)
    cdef int _link(self, int behind, int before) except -1
    @cython.locals(leaf=Leaf, at=Py_ssize_t)
    cpdef void set_score(self, int64_t spot, bytes member, double score) except *

    cpdef Py_ssize_t rank_at(self, int64_t spot, bytes member) except -1
    @cython.locals(root=Branch)
    cpdef int remove_at(self, Py_ssize_t rank) except -1
    @cython.locals(leaf=Leaf, branch=Branch, at=Py_ssize_t)
    cdef void _remove(self, object node, int height, Py_ssize_t rank) except *
    @cython.locals(leaf=Leaf, after=Leaf, before=Leaf)
    cdef void _tend_leaf(self, Branch branch, Py_ssize_t at) except *
    @cython.locals(first=Py_ssize_t)
    cdef int _join(self, Branch branch, Py_ssize_t at, Leaf leaf, Leaf after) except -1
    @cython.locals(child=Branch, after=Branch, before=Branch)
    cdef void _tend_branch(self, Branch branch, Py_ssize_t at) except *
    cdef int _join_branches(
        self, Branch branch, Py_ssize_t at, Branch child, Branch after
    ) except -1

    @cython.locals(number=int, made=Leaf)
    cdef Leaf _new_leaf(self)
    @cython.locals(before=Leaf)
    cdef int _drop(self, Leaf leaf) except -1
    @cython.locals(held=Py_ssize_t)
    cdef int _count_lists(self) except -1

    cpdef tuple scan(self, uint64_t cursor, Py_ssize_t count)
    @cython.locals(made=ScoreTree)
    cpdef ScoreTree copy(self)
