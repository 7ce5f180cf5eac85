from protocol.encoder cimport Encoder


cdef class Transport:
    cdef public int fd
    cdef public str address
    cdef public str local_address

    cpdef str peer_name(self)
    cpdef ready(self, unsigned int events)
    cpdef write(self, Encoder out)
    cpdef Py_ssize_t unsent(self) except -1
    cpdef Py_ssize_t unsent_pieces(self) except -1
    cpdef close(self)
    cpdef pause_reading(self)
    cpdef resume_reading(self)
    cpdef abort(self)
