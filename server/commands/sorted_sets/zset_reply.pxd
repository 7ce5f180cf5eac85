cimport cython

from protocol.encoder cimport Encoder
from storage.sorted_sets.score_walk cimport ScoreWalk
from storage.sorted_sets.sorted_set cimport SortedSet


@cython.locals(in_pairs=bint, member=ScoreWalk)
cpdef write_range(
    Encoder out, SortedSet values, Py_ssize_t rank, Py_ssize_t count, bint reverse, bint scores
)
cdef _write_member(Encoder out, ScoreWalk member)
cpdef write_pairs(Encoder out, object pairs, Py_ssize_t count, bint scores, bint in_pairs)
