cimport cython

from server.client.endpoint cimport Endpoint
from server.network.tls.transport cimport TlsTransport


@cython.final
cdef class TlsEndpoint(Endpoint):
    cdef object _handshakes
    cdef TlsTransport _transport
