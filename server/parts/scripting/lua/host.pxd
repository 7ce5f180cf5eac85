cdef class Host:
    cdef public bytes ended_at
    cdef public object fault
    cdef public int resp

    cpdef object call(self, list words)
    cpdef object may_call(self, list words)
    cpdef error_returned(self, object error, bint is_counted)
    cpdef log(self, int level, bytes text)
    cpdef double cpu_s(self) except? -1
    cpdef bint must_end(self) except -1
    cpdef register(self, bytes name, int ref, list flags, object description)
