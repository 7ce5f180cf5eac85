cimport cython


@cython.final
cdef class Lookup:
    cdef public bint no_touch
    cdef public bint spares_pages
    cdef public bint hides_expired
    cdef public bint keeps_expired
