from server.blocking cimport Blocking
from server.propagation cimport Propagation
from storage.journal cimport Journal


cdef class ServerJournal(Journal):
    cdef Blocking _blocking
    cdef Propagation _propagation
    cdef object _watching
    cdef dict _watched
