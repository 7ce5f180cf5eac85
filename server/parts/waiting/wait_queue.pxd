cimport cython
from libc.stdint cimport int64_t

from server.client.client cimport Standing, Waiter
from server.table.command cimport Block
from storage.keyspace.keyspace cimport Keyspace


cdef int64_t _NO_CLAIM

cdef class Queue


@cython.final
cdef class Spot(Standing):
    cdef readonly Queue queue
    cdef readonly Waiter waiter
    cdef Spot before
    cdef Spot after


@cython.final
@cython.freelist(64)
cdef class Queue:
    cdef readonly Keyspace database
    cdef readonly bytes key
    cdef readonly Spot first
    cdef readonly Spot last
    cdef public Spot passed
    cdef readonly Py_ssize_t on_no_key
    cdef readonly Py_ssize_t claims
    cdef readonly bint claims_for_others
    cdef readonly bytes speaker
    cdef readonly Py_ssize_t strangers
    cdef public bint is_ready
    cdef public Queue next_ready
    cdef dict registry
    cdef list left
    cdef bint is_left
    cdef Spot spare

    cdef emptied(self)
    @cython.locals(spot=Spot)
    cpdef append_waiter(self, Waiter waiter)
    cdef bint may_claim(self) noexcept
    cdef append(self, Spot spot)
    cdef count(self, Block block, Py_ssize_t change)
    @cython.locals(before=Spot, after=Spot)
    cdef take_out(self, Spot spot)


@cython.locals(queue=Queue)
cpdef forget_left(list left)
@cython.locals(made=Queue)
cpdef Queue new_queue(Keyspace database, bytes key, dict registry, list left=*)