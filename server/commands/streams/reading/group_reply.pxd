cimport cython
from libc.stdint cimport int64_t, uint64_t

from protocol.encoder cimport Encoder
from server.commands.streams cimport stream_reply
from server.commands.streams.reading cimport lane_reply
from server.commands.streams.reading.delivery cimport Delivery
from server.commands.streams.reading.group_writer cimport GroupWriter
from storage.rax.rax cimport Rax
from storage.rax.rax_iterator cimport RaxIterator
from storage.side_data.group_policy cimport GroupPolicy
from storage.stream cimport group_lag, lanes, stream_id
from storage.stream cimport pending as pendings
from storage.stream.consumer_group cimport Consumer, ConsumerGroup
from storage.stream.entry_filter cimport EntryFilter
from storage.stream.group_order cimport GroupOrder
from storage.stream.pending cimport Pending
from storage.stream.stream_id cimport StreamId
from storage.stream.stream_iterator cimport StreamIterator


cdef int64_t _NO_CLAIM
cdef Py_ssize_t _MOST_DEAD


@cython.locals(delivery=Delivery, mark=Py_ssize_t, policy=GroupPolicy, order=GroupOrder,
               where=EntryFilter, again=set, lane=uint64_t)
cpdef Py_ssize_t write_new(
    Encoder out, GroupWriter writer, StreamIterator entry, int64_t min_idle=*
) except -1
@cython.locals(last_id=StreamId, pending=Pending, entry_id=StreamId)
cdef set _claimed_ahead(Delivery delivery)
@cython.locals(found=bint, first=StreamId, last=StreamId)
cdef bint _find_wanted(Delivery delivery, EntryFilter where, StreamIterator entry) except -1
@cython.locals(delivery=Delivery, consumer=Consumer, now_ms=int64_t, group=ConsumerGroup,
               waits=bint, room=int64_t, last=Pending, pending=Pending,
               entry=StreamIterator, looks=Py_ssize_t, newer=Pending, is_own=bint, is_there=bint)
cdef int _write_idle(GroupWriter writer, int64_t min_idle) except -1
@cython.locals(written=Py_ssize_t, place=RaxIterator, mark=Py_ssize_t, delivered=Pending,
               where=EntryFilter, finder=StreamIterator, entry_id=StreamId, size=Py_ssize_t,
               is_there=bint)
cpdef Py_ssize_t write_history(
    Encoder out, Delivery delivery, Consumer consumer, Py_ssize_t count, int64_t now_ms,
    Py_ssize_t end, bint is_first, bint may_stop=*
) except -1
