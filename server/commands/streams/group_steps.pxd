cimport cython

from server.dispatch.call cimport Call
from storage.side_data.group_policy cimport GroupPolicy
from storage.side_data.side_data cimport SideData


@cython.locals(side=SideData)
cpdef int left(Call call, bytes key, bytes name=*) except -1
@cython.locals(policy=GroupPolicy)
cdef bint _has_limits(SideData side, bytes name) except -1
