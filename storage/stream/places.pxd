cimport cython

from storage cimport octets

cdef Py_ssize_t _SIZE


@cython.final
@cython.no_gc
cdef class Places:
    cdef bytearray _data
    cdef readonly Py_ssize_t count

    cpdef int add(self, Py_ssize_t place) except -1
    cpdef Py_ssize_t at(self, Py_ssize_t index) noexcept
