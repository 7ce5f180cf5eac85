cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t

from storage cimport octets

from protocol.encoder cimport Encoder
from server.commands.streams cimport stream_reply
from server.commands.streams.stream_reply cimport EntryWriter
from storage.side_data.group_policy cimport GroupPolicy
from storage.stream cimport group_lag, lanes, stream_id
from storage.stream cimport pending as pendings
from storage.stream.consumer_group cimport Consumer, ConsumerGroup
from storage.stream.entry_filter cimport EntryFilter
from storage.stream.group_order cimport GroupOrder
from storage.stream.lane cimport Lane
from storage.stream.pending cimport DeliveryQueue, Pending
from storage.rax.rax cimport Rax
from storage.rax.rax_iterator cimport RaxIterator
from storage.stream.stream cimport Stream
from storage.stream.stream_id cimport StreamId
from storage.stream.stream_iterator cimport StreamIterator


cdef int64_t _NO_CLAIM
cdef int64_t NO_LIMIT
cdef int64_t FEW_UNREAD
cdef int64_t RELEASED_ONLY
cdef Py_ssize_t MOST_DEAD
cdef Py_ssize_t MOST_CLAIMS
cdef int64_t CLAIMS_AGAIN_MS
cdef int64_t _PARKED
cdef uint32_t _NOBODY
cdef Py_ssize_t MOST_PARKED
cdef Py_ssize_t MOST_PARKED_AT_ONCE
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
    cdef readonly list given
    cdef readonly list claimed
    cdef readonly GroupPolicy policy
    cdef readonly int64_t min_idle
    cdef readonly bint tells_deliveries
    cdef readonly bint tells_deadline
    cdef readonly bint tells_fence
    cdef readonly GroupOrder order
    cdef readonly bint reads_on
    cdef readonly int64_t most_of_value
    cdef readonly bint was_set_back
    cdef readonly list parked
    cdef readonly list gone
    cdef readonly int64_t deadline
    cdef readonly int64_t fence
    cdef public int64_t turn_ms
    cdef readonly int64_t room
    cdef readonly list dead
    cdef readonly bint ids_only
    cdef readonly EntryFilter where
    cdef readonly bint has_passed
    cdef readonly bint is_cut
    cdef public bint is_more
    cdef public bint dead_stay

    cpdef int claim(self, int64_t min_idle) except -1
    cpdef int follow(self, GroupPolicy policy) except -1
    @cython.locals(pending=Pending, dead_of_consumer=Py_ssize_t, pending_of_all=Py_ssize_t)
    cdef int _limit(self, GroupPolicy policy, Consumer consumer) except -1

    @cython.locals(pending=Pending)
    cdef Pending _first_wanted(
        self, EntryFilter where, Pending start, int64_t min_idle, int64_t now_ms
    )
    cdef bint _is_dead(self, Pending pending) except -1
    cdef bint _leaves(self, Pending pending) except -1
    @cython.locals(entry_id=StreamId, entry=StreamIterator)
    cdef bint _is_wanted(self, EntryFilter where, Pending pending) except -1
    @cython.locals(pending=Pending, left=int64_t, is_stuck=bint)
    cdef int64_t _ms_to_wanted(self, EntryFilter where, int64_t min_idle, int64_t now_ms) except -1
    cpdef bint is_of_new(self) except -1
    @cython.locals(stream=Stream, last_id=StreamId, entry=StreamIterator, read=int64_t,
                   unread=int64_t)
    cpdef StreamIterator find_new(self)
    @cython.locals(pending=Pending, by_time=DeliveryQueue)
    cpdef Pending find_idle(self, int64_t min_idle, int64_t now_ms)
    @cython.locals(pending=Pending, left=int64_t, is_stuck=bint, is_there=bint,
                   by_time=DeliveryQueue)
    cpdef int64_t ms_to_idle(self, int64_t min_idle, int64_t now_ms) except -1
    cpdef bint awaits_backoff(self) except -1
    cpdef bint is_to_wait(self, Pending pending, int64_t now_ms) except -1
    cpdef int tell(self, bint deadline, bint fence) except -1
    @cython.locals(held=Pending)
    cpdef int64_t ms_to_held(self, int64_t now_ms) except -1
    @cython.locals(stream=Stream, group=ConsumerGroup, given=list, writer=EntryWriter, mark=Py_ssize_t,
                   size=Py_ssize_t, entry_id=StreamId, where=EntryFilter, written=Py_ssize_t,
                   order=GroupOrder, lane=uint64_t)
    cpdef Py_ssize_t write_new(
        self, Encoder out, StreamIterator entry, Consumer consumer, Py_ssize_t count, bint pends,
        int64_t now_ms, Py_ssize_t end, bint is_first, int64_t min_idle=*
    ) except -1
    @cython.locals(writer=EntryWriter, elements=Py_ssize_t)
    cdef EntryWriter _new_writer(self, Encoder out, int64_t now_ms)
    @cython.locals(found=bint, first=StreamId, last=StreamId)
    cdef bint _find_wanted(self, EntryFilter where, StreamIterator entry) except -1
    @cython.locals(group=ConsumerGroup, looks=Py_ssize_t, claimed=list, last=Pending, pending=Pending, newer=Pending,
                   entry_id=StreamId, entry=StreamIterator, waits=bint, is_there=bint)
    cdef int _write_idle(
        self, Encoder out, EntryWriter writer, Consumer consumer, Py_ssize_t count, int64_t now_ms,
        Py_ssize_t end, bint is_first, int64_t min_idle
    ) except -1
    @cython.locals(last=tuple)
    cpdef int follow_order(self, GroupOrder order) except -1
    @cython.locals(group=ConsumerGroup, held=Pending, owned=Pending)
    cpdef bint is_any_due(self, int64_t now_ms) except -1
    @cython.locals(first=Pending)
    cpdef bint has_due(self, int64_t now_ms) except -1
    cpdef bint has_ready(self) except -1
    @cython.locals(entry_id=StreamId, is_free=bint)
    cdef bint _is_its_turn(self, GroupOrder order, StreamIterator entry, uint64_t lane) except -1
    @cython.locals(passed=list, lane=Lane, written=Py_ssize_t)
    cdef int _write_lanes(
        self, GroupOrder order, Encoder out, EntryWriter writer, Consumer consumer,
        Py_ssize_t count, int64_t now_ms, Py_ssize_t end, bint is_first
    ) except -1
    @cython.locals(most=int64_t, is_new=bint, gone=list, pending=Pending, entry_id=StreamId,
                   entry=StreamIterator)
    cdef int _write_lane(
        self, GroupOrder order, Lane lane, Encoder out, EntryWriter writer, Consumer consumer,
        Py_ssize_t count, int64_t now_ms, Py_ssize_t end, bint is_first
    ) except -1
    @cython.locals(pending=Pending, has_dead=bint)
    cdef Pending _after_dead(self, Lane lane)
    @cython.locals(size=Py_ssize_t)
    cdef int _give_again(
        self, Encoder out, EntryWriter writer, StreamIterator entry, Pending pending,
        Consumer consumer, int64_t now_ms, Py_ssize_t end, bint is_first
    ) except -1
    @cython.locals(order=GroupOrder)
    cpdef bint has_lane(self, Pending pending) except -1
    @cython.locals(order=GroupOrder, where=EntryFilter, lane=Lane)
    cpdef bint may_take(self, Pending pending) except -1
    @cython.locals(written=Py_ssize_t, place=RaxIterator, mark=Py_ssize_t, delivered=Pending,
                   where=EntryFilter, finder=StreamIterator, entry_id=StreamId, size=Py_ssize_t,
                   is_there=bint)
    cpdef Py_ssize_t write_history(
        self, Encoder out, Consumer consumer, Py_ssize_t count, int64_t now_ms, Py_ssize_t end,
        bint is_first, bint may_stop=*
    ) except -1


@cython.locals(made=Delivery)
cpdef Delivery new_delivery(
    bytes key, Stream stream, ConsumerGroup group, StreamId after, bint ids_only=*,
    EntryFilter where=*
)

cdef int _write_number(Encoder out, int64_t number) except -1
