cimport cython


@cython.final
cdef class LooseKeys:
    cdef public Py_ssize_t count
    cdef public Py_ssize_t many
