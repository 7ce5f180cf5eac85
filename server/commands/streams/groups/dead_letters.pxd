cimport cython

from server.commands.streams.groups cimport group_steps
from server.dispatch.call cimport Call
from storage.side_data.group_policy cimport GroupPolicy
from storage.stream cimport pending as pendings
from storage.stream cimport stream_node
from storage.stream.consumer_group cimport Consumer, ConsumerGroup
from storage.stream.pending cimport Pending
from storage.stream.stream cimport Stream
from storage.stream.stream_id cimport StreamId
from storage.stream.stream_iterator cimport StreamIterator


@cython.locals(
    policy=GroupPolicy, stream=Stream, group=ConsumerGroup, target=Stream, pending=Pending,
    moved=Py_ssize_t
)
cpdef Py_ssize_t bury(
    Call call, bytes key, bytes name, list dead, bytes reason, bint wakes=*
) except -1
cpdef bint can_move(Call call, bytes key, GroupPolicy policy) except -1
cpdef bint leads_to(Call call, bytes start, bytes key) except -1
@cython.locals(
    policy=GroupPolicy, target=Stream, entry_id=StreamId, pending=Pending, entry=StreamIterator
)
cpdef bury_expired(
    Call call, bytes key, Stream stream, bytes name, ConsumerGroup group, list ids, bytes reason
)
@cython.locals(owner=Consumer, values=tuple, letter=list)
cdef list _letter(
    bytes key, bytes name, ConsumerGroup group, StreamId entry_id, Pending pending, list fields,
    bytes reason
)
cdef bint _fits(list fields) except -1
cdef bint _send(Call call, bytes key, Stream target, list letter) except -1
cdef Stream _target(Call call, bytes key, GroupPolicy policy)
@cython.locals(entry_id=StreamId, entry=StreamIterator)
cdef bint _bury(
    Call call, bytes key, bytes name, Stream stream, ConsumerGroup group, Pending pending,
    bytes dead_key, Stream target, bytes reason
) except -1
@cython.locals(entry_id=StreamId)
cpdef StreamId put(Call call, bytes key, Stream stream, list fields)
