cimport cython
from libc.stdint cimport int64_t, uint32_t

from storage cimport octets
from storage.side_data.group_policy cimport GroupPolicy
from storage.stream cimport pending as pendings
from storage.stream cimport stream_id
from storage.stream.consumer_group cimport Consumer, ConsumerGroup
from storage.stream.entry_filter cimport EntryFilter
from storage.stream.group_order cimport GroupOrder
from storage.stream.lane cimport Lane
from storage.stream.pending cimport Pending
from storage.stream.stream cimport Stream
from storage.stream.stream_id cimport StreamId
from storage.stream.stream_iterator cimport StreamIterator


cdef int64_t _NO_CLAIM
cdef uint32_t _NOBODY
cdef int64_t _PARKED
cdef int64_t _NO_LIMIT
cdef int64_t MOST_PARKED_AT_ONCE
cdef Py_ssize_t _MOST_CLAIMS, FEW_CLAIMS
cdef int64_t _RELEASED_ONLY
cdef list NO_ENTRIES
cdef list NO_IDS


@cython.final
@cython.no_gc
@cython.freelist(4)
cdef class Delivery:
    cdef readonly bytes key
    cdef readonly Stream stream
    cdef readonly ConsumerGroup group
    cdef readonly StreamId after
    cdef readonly int64_t min_idle
    cdef readonly EntryFilter where
    cdef readonly bint ids_only
    cdef readonly Py_ssize_t most_claims
    cdef readonly bint tells_deliveries
    cdef readonly bint tells_deadline
    cdef readonly bint tells_fence
    cdef readonly GroupPolicy policy
    cdef readonly int64_t deadline
    cdef readonly int64_t fence
    cdef public int64_t turn_ms
    cdef readonly int64_t room
    cdef readonly GroupOrder order
    cdef readonly int64_t most_of_value
    cdef readonly int64_t most_parked
    cdef readonly bint was_set_back
    cdef readonly list given
    cdef readonly list claimed
    cdef readonly dict taken_ms
    cdef readonly list parked
    cdef readonly list dead
    cdef public bint dead_stay
    cdef readonly list gone
    cdef readonly bint has_left_some
    cdef public bint has_new_consumer
    cdef readonly bint has_passed
    cdef readonly bint reads_on
    cdef public bint is_more
    cdef readonly bint is_cut

    cpdef int claim(self, int64_t min_idle) except -1
    cpdef int share_claims(self, Py_ssize_t streams) except -1
    cpdef int follow(self, GroupPolicy policy) except -1
    @cython.locals(last=tuple)
    cpdef int follow_order(self, GroupOrder order) except -1
    cpdef int tell(self, bint deadline, bint fence) except -1
    @cython.locals(pending=Pending, dead_of_consumer=Py_ssize_t, pending_of_all=Py_ssize_t)
    cdef int limit(self, GroupPolicy policy, Consumer consumer) except -1
    @cython.locals(most=int64_t)
    cdef int64_t room_of_one(self, Consumer consumer) except? -1
    cpdef bint is_of_new(self) except -1
    cpdef bint has_ready(self) except -1
    cdef int note_parked(self, Pending pending) except -1
    cdef int note_gone(self, list ids) except -1

    cdef bint is_dead(self, Pending pending) except -1
    cdef bint leaves(self, Pending pending) except -1
    @cython.locals(entry_id=StreamId, entry=StreamIterator)
    cdef bint is_wanted(self, EntryFilter where, Pending pending) except -1
    cpdef bint awaits_backoff(self) except -1
    cdef bint gives_back(self) except -1
    cpdef bint is_to_wait(self, Pending pending, int64_t now_ms) except -1
    @cython.locals(order=GroupOrder)
    cpdef bint has_lane(self, Pending pending) except -1
    @cython.locals(order=GroupOrder, where=EntryFilter, lane=Lane)
    cpdef bint may_take(self, Pending pending) except -1
    cpdef int note_taken(self, Pending pending) except -1
    @cython.locals(at_ms=int64_t)
    cdef int64_t idle_ms(self, Pending pending, int64_t now_ms) except -1


@cython.locals(made=Delivery)
cpdef Delivery new_delivery(
    bytes key, Stream stream, ConsumerGroup group, StreamId after, bint ids_only=*,
    EntryFilter where=*
)
