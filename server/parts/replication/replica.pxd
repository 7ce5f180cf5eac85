cimport cython
from libc.stdint cimport int64_t

from protocol.encoder cimport Encoder
from server.client.client cimport Client
from server.client.endpoint cimport Endpoint


cdef class Replica:
    cdef readonly Client client
    cdef public object stage
    cdef public object port
    cdef public str announced
    cdef public bint knows_eof
    cdef public bint knows_psync2
    cdef public int rdb_version
    cdef public bint is_penstock
    cdef public bint wants_copy_only
    cdef public bint wants_functions_only
    cdef public bint is_plain
    cdef public int64_t begins_at
    cdef public object acked
    cdef public object fsynced
    cdef public bint has_aof
    cdef public int64_t acked_ms
    cdef public int64_t alive_ms
    cdef public int64_t heard_ms
    cdef public int64_t told_ms
    cdef public int64_t counts_from_ms
    cdef public bint waits_for_ack
    cdef public list held
    cdef public Py_ssize_t held_bytes
    cdef readonly int64_t written
    cdef tuple _seen
    cdef public object sending

    cpdef begin(self, int64_t offset)
    cpdef take(self, bytes data)
    cpdef write(self, bytes data)
    @cython.locals(out=Encoder, endpoint=Endpoint, data=bytes)
    cpdef write_all(self, list portions)
    cpdef Py_ssize_t unsent(self) except -1
    cpdef watch(self, int64_t now_ms)
    cpdef copied(self, bint waits_for_ack)
    cpdef go_online(self)
    cpdef has_room(self)
