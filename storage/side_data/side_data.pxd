cimport cython

from storage cimport allocation


@cython.final
cdef class SideData:
    cdef dict _values
    cdef object _asked
    cdef object _found
    cdef bytes _group
    cdef Py_ssize_t _weight
    cdef object _asked_of_group
    cdef object _found_of_group

    @cython.locals(change=Py_ssize_t)
    cdef int _weigh(self, object value, int sign) except -1
    cdef int _forget_asked(self) except -1
    cpdef object get(self, object kind, bytes group=*)
    cpdef int set(self, object kind, object value, bytes group=*) except -1
    cpdef bint discard(self, object kind, bytes group=*) except -1
