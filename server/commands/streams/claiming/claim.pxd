cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t

from protocol.encoder cimport Encoder
from server.commands.streams cimport stream_reply
from server.dispatch.call cimport Call
from storage.rax.rax_iterator cimport RaxIterator
from storage.side_data.deadlines cimport Deadlines
from storage.side_data.group_policy cimport GroupPolicy
from storage.stream cimport pending as pendings
from storage.stream cimport stream_id
from storage.stream.consumer_group cimport Consumer, ConsumerGroup
from storage.stream.pending cimport Pending
from storage.stream.stream cimport Stream
from storage.stream.stream_id cimport StreamId
from storage.stream.stream_iterator cimport StreamIterator

cdef int64_t _ATTEMPTS
cdef int64_t _LEAST_DUE
cdef uint32_t _NOBODY
cdef int64_t _PARKED


@cython.final
cdef class Claim:
    cdef readonly Call call
    cdef readonly Stream stream
    cdef readonly ConsumerGroup group
    cdef readonly bint is_new
    cdef readonly Consumer consumer
    cdef readonly int64_t min_idle
    cdef readonly bint just_id
    cdef public int64_t delivery_time
    cdef public object retry_count
    cdef readonly Encoder out
    cdef StreamIterator _finder
    cdef readonly Py_ssize_t claimed
    cdef readonly int64_t changes
    cdef readonly GroupPolicy policy
    cdef Deadlines _deadlines
    cdef readonly object lanes
    cdef readonly list dead
    cdef readonly list forced

    cpdef bint is_idle(self, Pending pending) except -1
    @cython.locals(deadlines=Deadlines)
    cdef bint _has_expired(self, StreamId entry_id) except -1
    @cython.locals(entry_id=StreamId)
    cpdef take(self, Pending pending)
    cdef _take_back(self, list others)
    cdef bint _is_dead(self, Pending pending) except -1
    cpdef drop(self, Pending pending, StreamId entry_id)
    @cython.locals(argv=list)
    cpdef end(self)
    @cython.locals(pending=Pending)
    cdef _forget_forced(self)
    @cython.locals(argv=list, call=Call, owner=Consumer)
    cpdef changed(self, Pending pending, StreamId entry_id)
    @cython.locals(pending=Pending, forced=Pending, lane=uint64_t)
    cpdef claim_one(self, StreamId entry_id, bint force)
    @cython.locals(deleted=list, attempts=int64_t, most_due=int64_t, place=RaxIterator,
                   cursor=StreamId, due=list, pending=Pending, entry_id=StreamId)
    cpdef tuple claim_from(self, StreamId start, int64_t count)
    @cython.locals(entry_id=StreamId)
    cdef bint _claim_idle(self, Pending pending, list deleted) except -1
    @cython.locals(at_ms=int64_t, is_nobodys=bint)
    cdef bint _is_held(self, Pending pending) except -1


@cython.locals(name=bytes, consumer=Consumer)
cdef Consumer _consumer(Call call, ConsumerGroup group)
