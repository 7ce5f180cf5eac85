cdef class Part:
    pass
