cimport cython
from libc.stdint cimport int64_t, uint64_t

from protocol.encoder cimport Encoder
from server.commands.streams cimport stream_reply
from server.commands.streams.reading.delivery cimport Delivery
from server.commands.streams.stream_reply cimport EntryWriter
from storage.side_data.group_policy cimport GroupPolicy
from storage.stream cimport group_lag
from storage.stream cimport pending as pendings
from storage.stream.consumer_group cimport Consumer, ConsumerGroup
from storage.stream.pending cimport Pending
from storage.stream.stream_id cimport StreamId
from storage.stream.stream_iterator cimport StreamIterator


cdef Py_ssize_t _NO_LIMIT


@cython.final
@cython.no_gc
@cython.freelist(4)
cdef class GroupWriter:
    cdef readonly Delivery delivery
    cdef readonly Consumer consumer
    cdef readonly bint pends
    cdef readonly int64_t now_ms
    cdef readonly Py_ssize_t left
    cdef readonly Py_ssize_t written
    cdef Encoder _out
    cdef Py_ssize_t _end
    cdef bint _is_first
    cdef EntryWriter _writer

    @cython.locals(delivery=Delivery, policy=GroupPolicy, writer=EntryWriter, elements=Py_ssize_t)
    cdef int begin(self) except -1
    @cython.locals(delivery=Delivery, entry_id=StreamId)
    cdef bint give(self, StreamIterator entry, uint64_t lane) except -1
    @cython.locals(delivery=Delivery, group=ConsumerGroup, now_ms=int64_t, idle_ms=int64_t)
    cdef bint give_again(self, StreamIterator entry, Pending pending) except -1
    cdef bint give_away(self, StreamIterator entry) except -1
    @cython.locals(out=Encoder, delivery=Delivery, size=Py_ssize_t)
    cdef bint _write(
        self, StreamIterator entry, int64_t idle_ms, int64_t deliveries, int64_t deadline
    ) except -1


cdef int _write_number(Encoder out, int64_t number) except -1
@cython.locals(made=GroupWriter)
cpdef GroupWriter new_writer(
    Encoder out, Delivery delivery, Consumer consumer, Py_ssize_t count, bint pends,
    int64_t now_ms, Py_ssize_t end, bint is_first
)
