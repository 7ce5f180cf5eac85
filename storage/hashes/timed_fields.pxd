cdef class TimedFields:
    pass
