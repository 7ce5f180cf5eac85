cimport cython

from server.client.client cimport Standing, Waiter
from storage.keyspace.keyspace cimport Keyspace


cdef class Queue


@cython.final
cdef class Spot(Standing):
    cdef readonly Queue queue
    cdef readonly Waiter waiter
    cdef Spot before
    cdef Spot behind


@cython.final
@cython.freelist(64)
cdef class Queue:
    cdef readonly Keyspace database
    cdef readonly bytes key
    cdef readonly Spot first
    cdef readonly Spot last
    cdef readonly Py_ssize_t on_no_key
    cdef public bint is_ready
    cdef public Queue next_ready
    cdef dict _registry

    @cython.locals(spot=Spot)
    cpdef add(self, Waiter waiter)
    cpdef remove(self, Spot spot)
    cpdef move_to_tail(self, Spot spot)
    cdef _append(self, Spot spot)
    @cython.locals(before=Spot, behind=Spot)
    cdef _take_out(self, Spot spot)


@cython.locals(made=Queue)
cpdef Queue new_queue(Keyspace database, bytes key, dict registry)
@cython.locals(made=Spot)
cdef Spot _new_spot(Queue queue, Waiter waiter)
