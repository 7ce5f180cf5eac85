cimport cython

from server.client.client cimport Client
from server.client.pushes cimport Pushes
from server.observe.part cimport Part

cdef int MONITORING


@cython.final
cdef class Monitors(Part):
    cdef Pushes _pushes
    cdef dict _clients
    cdef readonly bint are_there

    cpdef add(self, Client client)
    cpdef remove(self, Client client)
    @cython.locals(client=Client, data=bytes)
    cpdef feed(self, object time_us, int db, str source, object words)
