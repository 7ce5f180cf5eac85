cimport cython

from server.dispatch.call cimport Call
from storage.sorted_sets.score_walk cimport ScoreWalk
from storage.sorted_sets.sorted_set cimport SortedSet


cpdef removed(Call call, bytes key, SortedSet values, bytes event, Py_ssize_t count, log=*)
cpdef delete(Call call, bytes key, Py_ssize_t changes=*)
@cython.locals(size=Py_ssize_t)
cpdef Py_ssize_t store(
    Call call, bytes key, SortedSet values, bytes event, Py_ssize_t changes=*
) except -1
@cython.locals(first=Py_ssize_t)
cpdef remove_end(Call call, bytes key, SortedSet values, bint lowest, Py_ssize_t count, log=*)
@cython.locals(size=Py_ssize_t, walk=ScoreWalk, pairs=list)
cpdef list pop(Call call, bytes key, SortedSet values, bint lowest, Py_ssize_t count, log=*)
