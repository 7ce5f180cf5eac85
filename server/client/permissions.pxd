cimport cython

from server.client.client cimport Client


@cython.locals(address=str)
cpdef bint is_local(Client client)
