cimport cython


@cython.final
cdef class Status:
    cdef readonly bytes line


@cython.no_gc
cdef class Encoded:
    pass
