cimport cython

from server.dispatch.call cimport Call
from storage.side_data.group_policy cimport GroupPolicy
from storage.side_data.side_data cimport SideData
from storage.stream.consumer_group cimport ConsumerGroup
from storage.stream.stream cimport Stream


@cython.locals(stream=Stream, group=ConsumerGroup)
cpdef tuple stream_and_group(Call call, bytes key, bytes name)
@cython.locals(side=SideData)
cpdef GroupPolicy policy_of(Call call, bytes key, bytes group)
@cython.locals(side=SideData)
cpdef int left(Call call, bytes key, bytes name=*) except -1
@cython.locals(policy=GroupPolicy)
cdef bint _has_limits(SideData side, bytes name) except -1
