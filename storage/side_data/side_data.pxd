cimport cython


@cython.final
cdef class SideData:
    cdef dict _values
    cdef object _asked
    cdef object _found

    cpdef object get(self, object kind, object group=*)
    cpdef int set(self, object kind, object value, object group=*) except -1
    cpdef bint discard(self, object kind, object group=*) except -1
