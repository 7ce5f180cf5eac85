cimport cython

from storage.sorted_sets cimport score_octets


@cython.final
@cython.no_gc
@cython.freelist(4)
cdef class Bound:
    cdef readonly bint by_score
    cdef readonly double score
    cdef readonly bytes member
    cdef readonly bint after

    @cython.locals(score=double, order=int)
    cdef bint is_behind(self, bytearray marks, bytearray data, Py_ssize_t at) noexcept


@cython.locals(made=Bound)
cpdef Bound at_score(double score, bint after)
@cython.locals(made=Bound)
cpdef Bound at_member(bytes member, bint after)
@cython.locals(made=Bound)
cpdef Bound at_both(double score, bytes member, bint after)
