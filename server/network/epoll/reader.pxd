from server.network.transport cimport Transport


cdef class Reader(Transport):
    cdef object _call
