cimport cython

from storage.set_limits cimport SetLimits
from storage.sets.member_set cimport MemberSet
from storage.sets.member_walk cimport MemberWalk


@cython.locals(made=MemberSet, others=list, smallest=MemberSet, member=MemberWalk, text=bytes)
cpdef MemberSet intersection(list sets, SetLimits limits)
@cython.locals(others=list, smallest=MemberSet, member=MemberWalk, found=Py_ssize_t)
cpdef Py_ssize_t intersection_size(list sets, Py_ssize_t limit) except -1
@cython.locals(made=MemberSet, values=MemberSet)
cpdef MemberSet union(list sets, SetLimits limits)
@cython.locals(made=MemberSet, first=MemberSet, others=list, values=MemberSet,
               in_others=Py_ssize_t, member=MemberWalk, text=bytes)
cpdef MemberSet difference(list sets, SetLimits limits)
cdef list _by_size(list sets)
@cython.locals(values=MemberSet)
cdef bint _is_in_all(bytes member, list sets) except -1
@cython.locals(values=MemberSet)
cdef bint _is_in_any(bytes member, list sets) except -1
@cython.locals(member=MemberWalk)
cdef int _add_all(MemberSet made, MemberSet values, SetLimits limits) except -1
@cython.locals(member=MemberWalk)
cdef int _remove_all(MemberSet made, MemberSet values) except -1
