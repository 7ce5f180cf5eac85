cimport cython
from libc.stdint cimport int64_t

from storage cimport octets

cdef int64_t used
cdef Py_ssize_t _RAW_STRING
cdef Py_ssize_t _NUMBER

cpdef int64_t used_bytes() noexcept
cpdef Py_ssize_t of_bytes(bytes text) noexcept
@cython.locals(kind=type)
cpdef Py_ssize_t of_string(object value) except -1
