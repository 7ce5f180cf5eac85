from server.client.client cimport Client


cdef class Part:
    cpdef client_left(self, Client client)
