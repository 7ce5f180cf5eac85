cdef class Endpoint:
    cdef public bint wants_buffer
    cdef public bint is_to_send
    cdef public Endpoint next_to_send

    cpdef data_received(self, bytes data)
    cpdef get_buffer(self)
    cpdef buffer_updated(self, Py_ssize_t size)
    cpdef eof_received(self)
    cpdef connection_lost(self)
    cpdef pause_writing(self)
    cpdef sent_some(self)
    cpdef resume_writing(self)
    cpdef send(self)
    cpdef set_apart(self)
    cpdef refuse(self, object error)
    cpdef disconnect(self)
    cpdef flush(self)
    cpdef resume(self)
    cpdef buffers(self)
    cpdef Py_ssize_t unsent(self) except -1
