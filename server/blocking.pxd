cimport cython
from libc.stdint cimport int64_t

from server.client cimport Client, Waiter
from server.command cimport Block


@cython.final
cdef class Blocking:
    cdef object _kind_at
    cdef readonly dict queues
    cdef dict _on_no_key
    cdef readonly dict ready
    cdef readonly list _deadlines
    cdef object _serial
    cdef Py_ssize_t _stale
    cdef int64_t _turn
    cdef readonly dict keyless
    cdef readonly Py_ssize_t waiting
    cdef public object on_deadline

    @cython.locals(waiter=Waiter)
    cpdef park(self, Client client, list argv, Block block, int64_t now_ms)
    cpdef forget(self, Waiter waiter)
    @cython.locals(place=tuple)
    cdef _enqueue(self, Waiter waiter)
    @cython.locals(place=tuple)
    cdef _dequeue(self, Waiter waiter)
    cpdef key_ready(self, int db_index, bytes key)
    cpdef serve(self, object run)
    cpdef serve_keyless(self, object run)
    @cython.locals(waiter=Waiter)
    cdef _serve_place(self, tuple place, object run)
    @cython.locals(waiter=Waiter)
    cdef Waiter _next_of(self, tuple place)
    cdef _run_again(self, Waiter waiter, object run)
