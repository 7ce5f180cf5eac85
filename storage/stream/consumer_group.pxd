cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t

from storage cimport allocation, octets
from storage.stream cimport pending as pendings
from storage.stream.group_order cimport GroupOrder
from storage.stream.pending cimport DeliveryQueue, Pending
from storage.rax.rax cimport Rax
from storage.rax.rax_iterator cimport RaxIterator
from storage.stream.redeliveries cimport Redeliveries
from storage.stream.references cimport References
from storage.stream.stream_id cimport StreamId

cdef Py_ssize_t CONSUMER
cdef Py_ssize_t GROUP
cdef int64_t _PARKED
cdef uint32_t _NOBODY
cdef Py_ssize_t IN_USE
cdef Rax _NO_PEL
cdef DeliveryQueue _NO_QUEUE
cdef dict _NO_CONSUMERS
cdef list _NO_TABLE


@cython.final
@cython.no_gc
cdef class Consumer:
    cdef readonly bytes name
    cdef readonly uint32_t index
    cdef public int64_t seen_time
    cdef public int64_t active_time
    cdef readonly Rax pel


@cython.final
@cython.no_gc
cdef class ConsumerGroup:
    cdef public StreamId last_id
    cdef public int64_t entries_read
    cdef readonly Rax pel
    cdef readonly DeliveryQueue by_time
    cdef readonly dict consumers
    cdef list _table
    cdef public References references
    cdef public GroupOrder order
    cdef public int64_t dead_lettered

    cdef int _use(self) except -1
    cpdef Consumer find_consumer(self, bytes name)
    @cython.locals(free=uint32_t, index=uint32_t, consumer=Consumer)
    cpdef Consumer create_consumer(self, bytes name, int64_t now_ms)
    cpdef Consumer owner(self, Pending pending)
    cpdef int move_to(self, StreamId entry_id) except -1

    @cython.locals(key=bytes, pending=Pending, previous=Pending)
    cpdef Pending deliver(self, StreamId entry_id, Consumer consumer, int64_t now_ms, uint64_t lane=*)

    cpdef int deliver_again(self, Pending pending, int64_t now_ms) except -1
    cpdef int count_delivery(self, Pending pending) except -1

    @cython.locals(key=bytes, pending=Pending)
    cpdef bint ack(self, StreamId entry_id) except -1

    @cython.locals(consumer=Consumer)
    cdef int _take_out(self, bytes key, Pending pending) except -1

    cdef int _set_time(self, Pending pending, int64_t delivery_time) except -1

    @cython.locals(pending=Pending)
    cpdef Pending force(self, StreamId entry_id, int64_t now_ms, uint64_t lane=*)

    @cython.locals(pending=Pending, key=bytes)
    cdef Pending _make_pending(self, StreamId entry_id, int64_t delivery_time, uint32_t count, uint64_t lane=*)
    cpdef int release(self, Pending pending) except -1
    @cython.locals(owner=Consumer)
    cdef int _disown(self, Pending pending) except -1
    @cython.locals(had_owner=bint, order=GroupOrder)
    cpdef int hold(self, Pending pending, int64_t until_ms) except -1
    @cython.locals(pending=Pending)
    cpdef int ripen(self, int64_t now_ms, int64_t most) except -1
    @cython.locals(pending=Pending)
    cpdef Pending park(self, StreamId entry_id, uint64_t lane)
    @cython.locals(order=GroupOrder)
    cdef _tell_order(self, StreamId entry_id, Pending pending, uint64_t lane)
    cpdef forget_order(self)
    @cython.locals(pending=Pending)
    cpdef Pending force_released(self, StreamId entry_id, uint64_t lane=*)
    @cython.locals(owned=Py_ssize_t, consumer=Consumer)
    cpdef Py_ssize_t released(self) except -1
    cpdef bint is_idle(self, Pending pending, int64_t min_idle, int64_t now_ms) except -1

    @cython.locals(key=bytes, owner=Consumer)
    cpdef int claim(
        self, Pending pending, Consumer consumer, int64_t delivery_time, int64_t now_ms=*
    ) except -1
    @cython.locals(found=list, pending=Pending)
    cpdef list due(self, int64_t min_idle, int64_t now_ms, Py_ssize_t most)

    cpdef Pending find(self, StreamId entry_id)
    @cython.locals(found=list, last_key=bytes, entry=RaxIterator)
    cpdef list pending_range(
        self, StreamId start, StreamId end, int64_t count, Consumer consumer=*, int64_t min_idle=*,
        int64_t now_ms=*
    )
    @cython.locals(last_key=bytes, entry=RaxIterator, found=list, idle=list, oldest=Pending,
                   steps=int64_t, pending=Pending)
    cdef list _idle_range(
        self, StreamId start, StreamId end, int64_t count, Consumer consumer, int64_t min_idle,
        int64_t now_ms
    )
    cpdef Pending oldest(self)
    @cython.locals(noted=Redeliveries)
    cpdef int64_t first_delivery(self, Pending pending) except? -1
    cpdef Pending first_pending(self)
    cpdef Pending last_pending(self)
