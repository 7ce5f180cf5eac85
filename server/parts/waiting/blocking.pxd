cimport cython
from libc.stdint cimport int64_t, uint64_t

from server.client.client cimport Client, Standing, Waiter, new_waiter
from server.parts.scripting.script_run cimport Caller
from server.table.command cimport Block
from server.parts.waiting.wait_queue cimport Queue, Spot, new_queue
from server.observe.part cimport Part

cdef int64_t LONGEST_MS


cdef class Runner(Caller):
    cpdef Block run_again(self, Waiter waiter)
    cpdef serve_ready(self)


@cython.final
cdef class Blocking(Part):
    cdef list _databases
    cdef readonly Py_ssize_t waiting
    cdef list _queues
    cdef readonly Queue first_ready
    cdef Queue _last_ready
    cdef readonly list _deadlines
    cdef object _serial
    cdef Py_ssize_t _stale
    cdef int64_t _turn
    cdef dict _keyless
    cdef public object timers

    @cython.locals(waiter=Waiter, timeout_ms=int64_t, due_ms=int64_t)
    cpdef park(self, Client client, list argv, Block block, int64_t now_ms)
    cpdef forget(self, Waiter waiter)
    @cython.locals(key=bytes)
    cdef _enqueue(self, Waiter waiter, int db_index)
    @cython.locals(by_key=dict, queue=Queue)
    cdef Queue _queue_at(self, int db_index, bytes key)
    @cython.locals(standing=Standing)
    cdef _dequeue(self, Waiter waiter)
    @cython.locals(queue=Queue)
    cpdef key_ready(self, int db_index, bytes key)
    @cython.locals(queue=Queue)
    cpdef key_removed(self, int db_index, bytes key)
    @cython.locals(by_key=dict)
    cdef Queue _queue_of(self, int db_index, bytes key)
    cdef _make_ready(self, Queue queue)
    @cython.locals(queue=Queue)
    cpdef serve(self, Runner runner)
    @cython.locals(queue=Queue)
    cdef Queue _take_ready(self)
    @cython.locals(waiter=Waiter)
    cpdef serve_keyless(self, Runner runner)
    @cython.locals(waiter=Waiter)
    cpdef serve_replicated(self, Runner runner, uint64_t offset)
    @cython.locals(waiter=Waiter)
    cdef _serve_queue(self, Queue queue, Runner runner)
    @cython.locals(spot=Spot, waiter=Waiter)
    cdef Waiter _next_of(self, Queue queue)
    @cython.locals(block=Block, standing=Standing)
    cdef _run_again(self, Waiter waiter, Runner runner)
