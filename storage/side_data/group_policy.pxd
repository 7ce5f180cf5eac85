cimport cython
from libc.stdint cimport int64_t

from storage cimport allocation


@cython.final
cdef class GroupPolicy:
    cdef public int64_t visibility_ms
    cdef public tuple backoff_ms
    cdef public int64_t max_deliveries
    cdef public bytes dead_letter
    cdef public int64_t max_pending
    cdef public int64_t max_pending_of_one
    cdef public int64_t max_pending_of_value
    cdef public bytes order_by
    cdef public bint released
    cdef public bint paused
    cdef public int64_t active
    cdef public bytes active_consumer
    cdef public int64_t fence
    cdef public int64_t timeout_ms
    cdef public int64_t consumer_timeout_ms
    cdef public object redelivered
    cdef public dict silent
    cdef public int64_t look_at_ms
    cdef public int64_t seen_ms
    cdef public int64_t suspected_ms
    cdef Py_ssize_t _weight

    @cython.locals(change=Py_ssize_t)
    cdef bytes _name(self, bytes name, bytes old)
    cpdef bint limits_pending(self) except -1
    cpdef bint has_limits(self) except -1
    cpdef bint gives_released(self) except -1
    @cython.locals(room=int64_t)
    cpdef int64_t room(self, int64_t pending, int64_t of_consumer) except -1
    cpdef int64_t wait_ms(self, int64_t deliveries) except -1
    cpdef bint is_dead(self, int64_t deliveries) except -1
