cimport cython

from storage.listpack.listpack cimport Listpack
from storage.limits cimport SetLimits
from storage.sets.member_set cimport MemberSet
from storage.sets.member_walk cimport MemberWalk

cdef Py_ssize_t FEW


@cython.locals(others=list, smallest=MemberSet, lookups=list, found=list, member=MemberWalk,
               text=bytes)
cpdef list intersection(list sets)
@cython.locals(others=list, smallest=MemberSet, lookups=list, member=MemberWalk, found=Py_ssize_t)
cpdef Py_ssize_t intersection_size(list sets, Py_ssize_t limit) except -1
@cython.locals(known=dict, values=MemberSet)
cpdef list union(list sets)
@cython.locals(member=MemberWalk)
cdef int _add_all(dict known, MemberSet values) except -1
@cython.locals(found=list, largest=MemberSet, size=Py_ssize_t, known=set, values=MemberSet,
               lookups=list, member=MemberWalk, text=bytes)
cpdef Py_ssize_t union_size(list sets, Py_ssize_t limit) except -1
@cython.locals(first=MemberSet, others=list, size=Py_ssize_t, known=set, values=MemberSet,
               lookups=list, member=MemberWalk, text=bytes)
cpdef Py_ssize_t difference_size(list sets, Py_ssize_t limit) except -1
@cython.locals(first=MemberSet, others=list, values=MemberSet, known=dict, member=MemberWalk)
cpdef list difference(list sets)
@cython.locals(first=MemberSet, others=list, values=MemberSet, made=MemberSet, member=MemberWalk)
cpdef MemberSet difference_as_set(list sets, SetLimits limits)
@cython.locals(values=MemberSet, in_others=Py_ssize_t)
cdef bint _is_looked_for(MemberSet first, list others) except -1
@cython.locals(left=list, member=MemberWalk, text=bytes)
cdef list _without_found(MemberSet values, list lookups)
@cython.locals(made=MemberSet, member=bytes)
cpdef MemberSet as_set(list members, SetLimits limits)
cdef list _by_size(list sets)
@cython.locals(values=MemberSet, found=list)
cdef list _lookups(list sets, Py_ssize_t members)
cdef bint _is_in_all(bytes member, list lookups) except -1
cdef bint _is_in_any(bytes member, list lookups) except -1
@cython.locals(values=MemberSet)
cdef bint _has(object lookup, bytes member) except -1
