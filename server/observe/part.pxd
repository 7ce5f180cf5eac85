from libc.stdint cimport int64_t

from server.client.client cimport Client


cdef class Part:
    cpdef client_left(self, Client client)
    cpdef tick(self, int64_t now_ms)
    cpdef statistics_reset(self)
    cpdef emptying(self, object databases)
    cpdef emptied(self, object databases)
