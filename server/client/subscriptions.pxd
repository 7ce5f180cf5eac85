cimport cython


@cython.final
cdef class Subscriptions:
    cdef readonly dict channels
    cdef readonly dict patterns
    cdef readonly dict shard_channels

    cpdef dict of(self, int kind)
    cpdef Py_ssize_t counted_with(self, int kind)
