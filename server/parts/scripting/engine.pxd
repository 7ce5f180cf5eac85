from protocol.encoder cimport Encoder
from server.client.client cimport Client


cdef class Engine:
    cpdef Encoder run_for(
        self, Client client, list argv, bytes name, int flags, int ref, int keys, bint is_function
    )
