cimport cython
from libc.stdint cimport int64_t

from server.client.client cimport Client
from server.parts.state cimport ServerState
from server.table.command cimport Command
from storage.keyspace.keyspace cimport Keyspace

cdef int _INSIDE
cdef int _REPLAYED
cdef int64_t _INT64_MAX


@cython.final
cdef class Call:
    cdef public list argv
    cdef public Client client
    cdef public Command command
    cdef public Keyspace db
    cdef public bint is_logged
    cdef public int64_t now_ms
    cdef public int origin
    cdef readonly object executor
    cdef readonly ServerState server

    cpdef bint is_inside(self) noexcept
    cpdef bint is_replayed(self) noexcept
    cpdef int64_t longest_string(self) except -1
