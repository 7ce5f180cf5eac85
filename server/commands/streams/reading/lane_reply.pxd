cimport cython
from libc.stdint cimport int64_t, uint64_t

from server.commands.streams.reading.delivery cimport Delivery
from server.commands.streams.reading.group_writer cimport GroupWriter
from storage.stream cimport group_lag
from storage.stream cimport pending as pendings
from storage.stream.consumer_group cimport ConsumerGroup
from storage.stream.entry_filter cimport EntryFilter
from storage.stream.group_order cimport GroupOrder
from storage.stream.lane cimport Lane
from storage.stream.pending cimport Pending
from storage.stream.stream_id cimport StreamId
from storage.stream.stream_iterator cimport StreamIterator


cdef int64_t _PARKED
cdef Py_ssize_t _MOST_LANES
cdef Py_ssize_t _MOST_DEAD
cdef Py_ssize_t MOST_PARKED


@cython.locals(passed=list, lane=Lane, written=Py_ssize_t)
cdef int write_ready(GroupWriter writer, GroupOrder order) except -1
@cython.locals(delivery=Delivery, most=int64_t, where=EntryFilter, gone=list, pending=Pending,
               entry_id=StreamId, entry=StreamIterator)
cdef int _write_lane(GroupWriter writer, GroupOrder order, Lane lane) except -1
@cython.locals(pending=Pending, has_dead=bint)
cdef Pending _after_dead(Delivery delivery, Lane lane)
@cython.locals(group=ConsumerGroup, entry_id=StreamId, is_free=bint)
cdef bint is_its_turn(
    Delivery delivery, GroupOrder order, StreamIterator entry, uint64_t lane
) except -1
cdef bint is_over(Delivery delivery, GroupOrder order) except -1
