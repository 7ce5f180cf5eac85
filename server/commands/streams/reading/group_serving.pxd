cimport cython
from libc.stdint cimport int64_t

from protocol.encoder cimport Encoder
from server.commands.streams.adding cimport stream_expiries
from server.commands.streams.groups cimport dead_letters
from server.commands.streams.reading cimport deliverable, group_reply, group_writer
from server.commands.streams.reading.delivery cimport Delivery, new_delivery
from server.commands.streams.reading.group_writer cimport GroupWriter
from server.commands.streams.reading.stream_request cimport Request
from server.dispatch.call cimport Call
from storage.side_data.group_policy cimport GroupPolicy
from storage.side_data.side_data cimport SideData
from storage.stream cimport stream_id
from storage.stream.consumer_group cimport Consumer, ConsumerGroup
from storage.stream.entry_filter cimport EntryFilter
from storage.stream.group_order cimport GroupOrder
from storage.stream.pending cimport Pending
from storage.stream.stream cimport Stream
from storage.stream.stream_id cimport StreamId
from storage.stream.stream_iterator cimport StreamIterator


cdef int64_t _NO_CLAIM

@cython.locals(stream=Stream, name=bytes, group=ConsumerGroup, delivery=Delivery,
               policy=GroupPolicy, side=SideData)
cpdef Delivery delivery_of(Call call, Request request, bytes key, bytes text)
@cython.locals(
    earliest=int64_t, is_paused=bint, turn_ms=int64_t, wake_ms=int64_t, held_ms=int64_t,
    delivery=Delivery, policy=GroupPolicy
)
cpdef int64_t ms_to_claim(Call call, list deliveries) except? -2
cpdef bint is_put_off(Call call, Request request) except -1
cpdef int count_looks(Call call, EntryFilter where) except -1
@cython.locals(delivery=Delivery)
cpdef bint claims_any(list deliveries) except -1
@cython.locals(where=EntryFilter)
cpdef bytes name_of(Request request)
cpdef bint is_plain(Request request) except -1
@cython.locals(delivery=Delivery)
cpdef bint finds_for_all(list deliveries) except -1
@cython.locals(policy=GroupPolicy, is_full=bint)
cdef bint _is_limited(Delivery delivery) except -1
@cython.locals(policy=GroupPolicy)
cpdef bytes active_of(Delivery delivery)
@cython.locals(policy=GroupPolicy)
cpdef bint rests(Request request, Delivery delivery) except -1
cpdef int64_t ms_to_rest(Call call, Delivery delivery) except? -2
@cython.locals(added=int64_t, delivery=Delivery)
cdef int64_t entries_added(list deliveries) except -1
@cython.locals(
    policy=GroupPolicy, min_idle=int64_t, side=SideData, consumer=Consumer, entry=StreamIterator,
    idle=Pending, is_given=bint
)
cpdef bint serve(Call call, Request request, Encoder body, Delivery delivery) except -1
cdef bint _may_read(
    Call call, Request request, Delivery delivery, GroupPolicy policy
) except -1
@cython.locals(group=ConsumerGroup, consumer=Consumer)
cdef Consumer _seen_consumer(Call call, Request request, Delivery delivery, bint is_given)
@cython.locals(mark=Py_ssize_t, may_stop=bint, given=Py_ssize_t, policy=GroupPolicy)
cdef bint _serve_history(
    Call call, Request request, Encoder body, Delivery delivery, Consumer consumer
) except -1
cdef _log_consumer(Call call, Request request, Delivery delivery)
@cython.locals(mark=Py_ssize_t, writer=GroupWriter, given=Py_ssize_t)
cdef bint _serve_new(
    Call call, Request request, Encoder body, Delivery delivery, Consumer consumer,
    StreamIterator entry, int64_t min_idle
) except -1
cdef Py_ssize_t _begin(Encoder body, Delivery delivery) except -1
@cython.locals(wakes=bint)
cdef _bury(Call call, Request request, Delivery delivery, Py_ssize_t given)
@cython.locals(consumer=Consumer)
cdef bint _settle(Call call, Request request, Delivery delivery) except -1
@cython.locals(
    key=bytes, group=ConsumerGroup, name=bytes, policy=GroupPolicy, order=GroupOrder,
    has_ready=bint
)
cdef _look(Call call, Request request, Delivery delivery)
@cython.locals(
    group=ConsumerGroup, policy=GroupPolicy, count=int64_t, reader=Consumer, most=int64_t,
    most_of_one=int64_t, had=int64_t
)
cdef _look_in_order(Call call, Request request, Delivery delivery)
@cython.locals(first=Pending, policy=GroupPolicy)
cdef bint _has_lapsed(Call call, Delivery delivery) except -1
@cython.locals(key=bytes, name=bytes, entry_id=StreamId)
cdef _delivered(Call call, Request request, Delivery delivery)
@cython.locals(key=bytes, group=ConsumerGroup, name=bytes, pending=Pending)
cdef _log_claimed(Call call, Request request, Delivery delivery)
@cython.locals(key=bytes, group=ConsumerGroup, name=bytes)
cdef _log_passed(Call call, Request request, Delivery delivery)
