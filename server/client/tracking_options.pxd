cimport cython


@cython.final
cdef class TrackingOptions:
    cdef public bint broadcasts
    cdef public bint opts_in
    cdef public bint opts_out
    cdef public bint no_loop
    cdef public object redirect
    cdef public object prefixes
    cdef public bint caching
    cdef public bint broken
