cdef class Args:
    cdef readonly list argv
    cdef public Py_ssize_t at

    cpdef bytes take(self)
    cpdef list rest(self)
