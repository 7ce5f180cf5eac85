cimport cython


@cython.final
cdef class Status:
    cdef readonly bytes line


cdef class Encoded:
    pass
