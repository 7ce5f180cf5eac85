cimport cython

from server.commands.sorted_sets cimport score_args
from server.dispatch.call cimport Call
from server.table.args cimport Args
from storage.keyspace.keyspace cimport Keyspace
from storage.limits cimport ListpackLimits
from storage.sorted_sets.sorted_set cimport SortedSet

cdef Py_ssize_t _LONGEST
cdef bytes LETTERS
cdef int NX
cdef int XX
cdef int GT
cdef int LT
cdef int CH
cdef int INCR
cdef int CONDITIONS
cdef int NOTHING
cdef int SAME
cdef int ADDED
cdef int UPDATED

@cython.locals(args=Args, options=int)
cpdef object with_options(Call call)
cpdef object increment(Call call)
@cython.locals(options=int)
cdef int _take_options(Args args) except -1
@cython.locals(argv=list, key=bytes, scores=list, longest=Py_ssize_t, at=Py_ssize_t, db=Keyspace,
               values=SortedSet, is_new=bint, limits=ListpackLimits, addition=Addition,
               changes=Py_ssize_t)
cdef object _add(Call call, Py_ssize_t first, int options)


@cython.final
@cython.no_gc
@cython.freelist(4)
cdef class Addition:
    cdef SortedSet _values
    cdef int _options
    cdef ListpackLimits _limits
    cdef readonly Py_ssize_t added
    cdef readonly Py_ssize_t updated
    cdef readonly int outcome
    cdef readonly double score

    cpdef int add(self, bytes member, double score) except -1
    @cython.locals(options=int, old=double)
    cdef int _add_if(self, bytes member, double score) except -1


@cython.locals(made=Addition)
cdef Addition _addition(SortedSet values, int options, ListpackLimits limits)
