cimport cython

from server.client.client cimport Client


@cython.final
cdef class Pushes:
    cdef readonly Client running
    cdef list _messages
    cdef list _invalidations

    cpdef send(self, Client client, bytes data)
    cpdef send_invalidation(self, Client client, bytes data)
    cpdef begin_command(self, Client client)
    cpdef Client pause_command(self)
    @cython.locals(late=list, data=bytes)
    cpdef end_command(self, Client client)


cdef _send(Client client, bytes data)
