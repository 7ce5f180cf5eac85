cimport cython


@cython.final
cdef class SideData:
    cdef dict _values
    cdef object _asked
    cdef object _found
    cdef bytes _group
    cdef object _asked_of_group
    cdef object _found_of_group

    cdef int _forget_asked(self) except -1
    cpdef object get(self, object kind, bytes group=*)
    cpdef int set(self, object kind, object value, bytes group=*) except -1
    cpdef bint discard(self, object kind, bytes group=*) except -1
