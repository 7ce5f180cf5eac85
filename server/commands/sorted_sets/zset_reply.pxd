cimport cython
from libc.stdint cimport int64_t

from protocol.encoder cimport Encoder
from protocol cimport wire
from storage.sorted_sets cimport score_octets
from storage.sorted_sets.leaf cimport Leaf
from storage.sorted_sets.score_tree cimport ScoreTree
from storage.sorted_sets.score_walk cimport ScoreWalk
from storage.sorted_sets.sorted_set cimport SortedSet

cdef int64_t AT_MASK
cdef Py_ssize_t PER_MEMBER
cdef Py_ssize_t MUCH


@cython.locals(member=ScoreWalk)
cpdef write_range(
    Encoder out, SortedSet values, Py_ssize_t rank, Py_ssize_t count, bint reverse, bint scores,
    bint in_pairs
)
cdef _write_member(Encoder out, ScoreWalk member)
@cython.locals(spot=int64_t, leaf=Leaf, at=Py_ssize_t, run=Py_ssize_t)
cdef _write_tree(Encoder out, ScoreTree tree, Py_ssize_t rank, Py_ssize_t count, bint reverse)
@cython.locals(size=Py_ssize_t)
cdef _write_leaf(Encoder out, Leaf leaf, Py_ssize_t at, Py_ssize_t count, Py_ssize_t step)
@cython.locals(size=Py_ssize_t)
cdef Py_ssize_t _bytes_of(
    Leaf leaf, Py_ssize_t at, Py_ssize_t count, Py_ssize_t step
) except -1
@cython.locals(data=bytearray, marks=bytearray, offset=Py_ssize_t, size=Py_ssize_t)
cdef Py_ssize_t _put_members(
    bytearray buffer, Py_ssize_t to, Leaf leaf, Py_ssize_t at, Py_ssize_t count, Py_ssize_t step
) except -1
cpdef write_pairs(Encoder out, object pairs, Py_ssize_t count, bint scores, bint in_pairs)
