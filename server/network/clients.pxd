cimport cython
from libc.stdint cimport uint64_t

from protocol.requests cimport RequestParser
from server.client.client cimport Client
from server.client.endpoint cimport Endpoint
from server.client.permissions cimport is_local
from server.parts.state cimport ServerState
from server.observe.part cimport Part
from server.network.transport cimport Transport
from storage.keyspace.settings cimport Clock


@cython.final
cdef class Clients(Part):
    cdef ServerState _state
    cdef Clock _clock
    cdef object _monotonic_ms
    cdef uint64_t _last_id
    cdef dict _over_soft_limit
    cdef unsigned long long _most_clients
    cdef bint _is_protected
    cdef dict _output_limits
    cdef bint _must_check_all
    cdef Py_ssize_t _most_output
    cdef Py_ssize_t _most_bulk
    cdef Py_ssize_t _most_buffered

    @cython.locals(state=ServerState, client=Client)
    cpdef Client opened(self, Transport transport, Endpoint endpoint)
    cdef _refusal(self, Client client)
    cpdef leaving(self, Client client)
    cpdef closed(self, Client client)
    cpdef set_limits(self, RequestParser parser)
    cpdef check_output(self, Client client)
