from server.client.endpoint cimport Endpoint
from server.network.transport cimport Transport
from server.observe.part cimport Part


cdef class Acceptor(Part):
    cdef public int keep_alive_s

    cpdef Endpoint connect(self, Transport transport)
