from storage.journal cimport Journal


cdef class ServerJournal(Journal):
    cdef object _blocking
    cdef object _watching
    cdef dict _queues
    cdef dict _watched
