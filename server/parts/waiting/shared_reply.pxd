cimport cython
from libc.stdint cimport uint64_t

from protocol.encoder cimport Encoder
from server.client.client cimport Client
from storage.keyspace.key_events cimport KeyEvents


@cython.final
cdef class SharedReply:
    cdef KeyEvents _events
    cdef list _argv
    cdef Encoder _reply
    cdef int _db_index
    cdef bint _no_touch
    cdef uint64_t _hits
    cdef uint64_t _misses

    cpdef begin(self, Client client, list argv)
    cpdef keep(self, Encoder reply)
    @cython.locals(reply=Encoder)
    cpdef Encoder reply_to(self, Client client, list argv)
    cpdef forget(self)
