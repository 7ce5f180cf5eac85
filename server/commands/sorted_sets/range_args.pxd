cimport cython
from libc.stdint cimport int64_t

from server.commands.sorted_sets cimport score_args
from server.table.args cimport Args
from storage.sorted_sets.bound cimport Bound
from storage.sorted_sets.sorted_set cimport SortedSet

cdef int BY_RANK
cdef int BY_SCORE
cdef int BY_MEMBER
cdef int ALL


@cython.final
@cython.no_gc
@cython.freelist(4)
cdef class RangeArgs:
    cdef int _by
    cdef int64_t _offset
    cdef int64_t _count
    cdef int64_t _start
    cdef int64_t _stop
    cdef Bound _begin
    cdef Bound _until
    cdef readonly bint reverse
    cdef readonly bint with_scores
    cdef readonly Py_ssize_t first
    cdef readonly Py_ssize_t end

    cpdef take_options(self, Args args, bint any_kind, bint storing)
    cpdef take_ends(self, bytes low, bytes high)
    cpdef find_places(self, SortedSet values)
    @cython.locals(start=int64_t, stop=int64_t)
    cdef _find_ranks(self, Py_ssize_t size)
    @cython.locals(size=int64_t, left=int64_t, count=int64_t)
    cdef _limit(self)


@cython.locals(made=RangeArgs)
cpdef RangeArgs of_any_kind(list argv, Py_ssize_t low_at)
@cython.locals(made=RangeArgs)
cpdef RangeArgs of_kind(int by, list argv, bint reverse)
@cython.locals(made=RangeArgs)
cdef RangeArgs _made(int by, bint reverse)
