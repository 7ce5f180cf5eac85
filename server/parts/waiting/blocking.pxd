cimport cython
from libc.stdint cimport int64_t

from server.client.client cimport Client, Standing, Waiter, new_waiter
from server.table.command cimport Block
from server.parts.waiting.alarms cimport Alarms
from server.parts.waiting.pattern_reads cimport PatternReads
from server.parts.waiting.wait_queue cimport Queue, Spot, forget_left, new_queue
from server.observe.part cimport Part

cdef int64_t LONGEST_MS
cdef Py_ssize_t _MOST_LEFT


@cython.final
cdef class Blocking(Part):
    cdef list _databases
    cdef readonly Py_ssize_t waiting
    cdef readonly Py_ssize_t waiting_for_more
    cdef Py_ssize_t _for_removal
    cdef readonly list _queues
    cdef readonly list _left
    cdef readonly Queue first_ready
    cdef Queue _last_ready
    cdef Queue _served
    cdef readonly Alarms _alarms
    cdef int64_t _turn
    cdef object _kind
    cdef set _silent
    cdef set _sought
    cdef Waiter _run
    cdef bint _has_delivered
    cdef bint _some_wait_on
    cdef dict _keyless
    cdef dict _unfinished
    cdef bint _is_called
    cdef public int64_t looks
    cdef readonly PatternReads patterns
    cdef public object timers

    @cython.locals(
        waiter=Waiter, timeout_ms=int64_t, due_ms=int64_t, by_key=dict, key=bytes, queue=Queue
    )
    cpdef park(self, Client client, list argv, Block block, int64_t now_ms)
    @cython.locals(queue=Queue)
    cdef _park_reader(self, Waiter waiter, object readers)
    cpdef readable(self, int db_index, bytes key)
    cdef _read_on_later(self, Waiter waiter)
    cpdef rights_changed(self, Waiter waiter)
    @cython.locals(waiter=Waiter)
    cpdef Waiter take_unfinished(self)
    cdef _call_unfinished(self)
    cpdef hold_unfinished(self)
    cdef _set_alarm(self, int64_t at_ms, Waiter waiter, bint ends)
    cdef _wake_after(self, Waiter waiter, int64_t wake_ms, int64_t now_ms)
    cdef _wake_at(self, Waiter waiter, int64_t at_ms)
    @cython.locals(standing=Standing, spot=Spot)
    cpdef wait_on(self, Waiter waiter, Block block, int64_t now_ms)
    @cython.locals(before=Block, knows_all=bint)
    cdef _reads_on_by_pattern(self, Waiter waiter, Block block)
    @cython.locals(queue=Queue)
    cpdef kept(self, object readers)
    @cython.locals(queue=Queue, waiter=Waiter)
    cdef _forget_reader(self, Block block)
    @cython.locals(queue=Queue, name=bytes, is_first=bint, has_kept=bint)
    cdef bint _waits_on(self, Block block) except -1
    cdef bint _may_find(self, Block block) except -1
    cdef _pass_alarm_on(self, Queue queue, int64_t at_ms)
    @cython.locals(standing=Standing, spot=Spot, following=Standing)
    cpdef forget(self, Waiter waiter)
    @cython.locals(queue=Queue, by_key=dict)
    cpdef key_ready(self, int db_index, bytes key)
    @cython.locals(queue=Queue, by_key=dict)
    cpdef key_removed(self, int db_index, bytes key)
    cpdef list_longer(self, int db_index, bytes key)
    @cython.locals(queue=Queue, by_key=dict)
    cpdef delivered(self, int db_index, bytes key)
    cdef _delivered_to_one_of(self, Queue queue)
    cdef _make_ready(self, Queue queue)
    @cython.locals(queue=Queue, spot=Spot, following=Spot, waiter=Waiter)
    cpdef Waiter next_woken(self)
    cpdef list keyless(self)
    @cython.locals(queue=Queue, found_queue=Queue, found=list, spot=Spot)
    cpdef list blocks_at(self, Py_ssize_t db_index, bytes key)
    @cython.locals(woken=Waiter, alarm=tuple, waiter=Waiter, ends=bint)
    cpdef Waiter next_over(self, int64_t now_ms)
    @cython.locals(standing=Standing)
    cdef _wake(self, Waiter waiter)
