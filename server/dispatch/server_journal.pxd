from server.dispatch.blocking cimport Blocking
from server.propagation.propagation cimport Propagation
from storage.keyspace.journal cimport Journal


cdef class ServerJournal(Journal):
    cdef Blocking _blocking
    cdef Propagation _propagation
    cdef object _watching
    cdef dict _watched
