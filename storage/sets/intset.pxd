cimport cython
from libc.stdint cimport int64_t

from storage.sets cimport intset_octets

cdef Py_ssize_t HEADER

cpdef Py_ssize_t length(bytes data) noexcept
cpdef int64_t get(bytes data, Py_ssize_t index) noexcept
@cython.locals(width=Py_ssize_t, low=Py_ssize_t, high=Py_ssize_t, middle=Py_ssize_t,
               found=int64_t)
cpdef Py_ssize_t find(bytes data, int64_t number) noexcept
@cython.locals(width=Py_ssize_t)
cpdef bytes inserted(bytes data, Py_ssize_t index, int64_t number)
cpdef bytes without(bytes data, Py_ssize_t index)
cpdef Py_ssize_t width_for(int64_t number) noexcept
cpdef bint is_one(bytes data) noexcept
@cython.locals(width=Py_ssize_t, count=Py_ssize_t, index=Py_ssize_t, before=int64_t)
cpdef int check(bytes data) except -1
