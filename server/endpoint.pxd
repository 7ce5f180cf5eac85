cdef class Endpoint:
    cpdef data_received(self, bytes data)
    cpdef eof_received(self)
    cpdef connection_lost(self)
    cpdef pause_writing(self)
    cpdef resume_writing(self)
    cpdef send(self)
    cpdef refuse(self, object error)
    cpdef hang_up(self)
