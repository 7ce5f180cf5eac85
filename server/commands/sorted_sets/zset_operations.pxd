cimport cython

from storage.listpack.listpack cimport Listpack
from storage.sets.member_set cimport MemberSet
from storage.sets.member_walk cimport MemberWalk
from storage.sorted_sets.score_walk cimport ScoreWalk
from storage.sorted_sets.sorted_set cimport SortedSet

cdef Py_ssize_t FEW


cdef double _number(double score) noexcept


@cython.final
@cython.no_gc
cdef class SourceWalk:
    cdef ScoreWalk _scored
    cdef MemberWalk _unscored
    cdef readonly bytes member
    cdef readonly double score

    cpdef bint next(self) except -1


@cython.locals(scores=dict, walk=SourceWalk)
cpdef object scores_in(object source, Py_ssize_t members)
@cython.locals(values=SortedSet)
cdef bint _is_listpack(object source) except -1
@cython.locals(values=SortedSet)
cpdef object score_in(object source, bytes member)
@cython.locals(walk=SourceWalk, value=double)
cdef int _add_all(dict scores, object source, double weight, object aggregate) except -1
@cython.locals(scores=dict, walk=SourceWalk)
cpdef dict union_counts(object weighted)
@cython.locals(scores=dict, walk=SourceWalk)
cpdef dict intersection_counts(object weighted)
@cython.locals(scores=dict, walk=SourceWalk)
cpdef dict intersection(object weighted)
@cython.locals(value=double, other_weight=double)
cdef object _score_in_all(SourceWalk walk, double weight, list others, object aggregate)
@cython.locals(size=Py_ssize_t, walk=SourceWalk)
cpdef Py_ssize_t intersection_size(list sources, Py_ssize_t limit) except -1
@cython.locals(scores=dict, walk=SourceWalk)
cpdef dict difference(list sources)
cdef bint _is_in_all(bytes member, list sources) except -1
cdef bint _is_in_any(bytes member, list sources) except -1
