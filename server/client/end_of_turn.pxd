from server.client.client cimport Client
from server.client.endpoint cimport Endpoint


cdef class EndOfTurn:
    cpdef send_later(self, Endpoint connection)
    cpdef resume_later(self, Client client)
