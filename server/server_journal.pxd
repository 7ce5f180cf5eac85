from server.propagation cimport Propagation
from storage.journal cimport Journal


cdef class ServerJournal(Journal):
    cdef object _blocking
    cdef Propagation _propagation
    cdef object _watching
    cdef dict _queues
    cdef dict _watched
