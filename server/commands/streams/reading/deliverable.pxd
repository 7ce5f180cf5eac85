cimport cython
from libc.stdint cimport int64_t

from storage cimport octets

from server.commands.streams.reading.delivery cimport Delivery
from storage.side_data.group_policy cimport GroupPolicy
from storage.stream cimport pending as pendings
from storage.stream cimport stream_id
from storage.stream.consumer_group cimport ConsumerGroup
from storage.stream.entry_filter cimport EntryFilter
from storage.stream.pending cimport DeliveryQueue, Pending
from storage.stream.stream cimport Stream
from storage.stream.stream_id cimport StreamId
from storage.stream.stream_iterator cimport StreamIterator


cdef int64_t _RELEASED_ONLY
cdef int64_t FEW_UNREAD
cdef Py_ssize_t _MOST_CLAIMS
cdef int64_t _LOOKS
cdef int64_t CLAIMS_AGAIN_MS


@cython.locals(stream=Stream, group=ConsumerGroup, last_id=StreamId, entry=StreamIterator,
               read=int64_t, unread=int64_t)
cpdef StreamIterator find_new(Delivery delivery)
@cython.locals(group=ConsumerGroup, held=Pending, owned=Pending)
cpdef bint is_any(Delivery delivery, int64_t now_ms) except -1
@cython.locals(group=ConsumerGroup, first=Pending)
cpdef bint is_any_or_released(Delivery delivery, int64_t now_ms) except -1
@cython.locals(group=ConsumerGroup, stream=Stream, pending=Pending, by_time=DeliveryQueue)
cpdef Pending find_idle(Delivery delivery, int64_t min_idle, int64_t now_ms)
@cython.locals(pending=Pending)
cdef Pending _first_wanted(
    Delivery delivery, EntryFilter where, Pending start, int64_t min_idle, int64_t now_ms
)
@cython.locals(by_time=DeliveryQueue, has_policy=bint, pending=Pending, left=int64_t,
               is_stuck=bint, is_there=bint)
cpdef int64_t ms_to_idle(Delivery delivery, int64_t min_idle, int64_t now_ms) except -1
@cython.locals(policy=GroupPolicy, makes_room=bint, pending=Pending, left=int64_t)
cdef int64_t _ms_to_wanted(
    Delivery delivery, EntryFilter where, int64_t min_idle, int64_t now_ms
) except -1
@cython.locals(held=Pending)
cpdef int64_t ms_to_held(Delivery delivery, int64_t now_ms) except -1
