cimport cython
from libc.stdint cimport int64_t, uint8_t, uint32_t

from storage.rdb cimport raw


@cython.final
cdef class CommonSubsequence:
    cdef bytes _one
    cdef bytes _other
    cdef bytearray _leaves_one
    cdef readonly int64_t length

    @cython.locals(one=raw.Raw, other=raw.Raw, leaves="uint8_t *", row="uint32_t *",
                   width=Py_ssize_t, bit=int64_t, i=Py_ssize_t, j=Py_ssize_t, corner=uint32_t,
                   left=uint32_t, above=uint32_t)
    cdef int64_t _compare(self) except -1
    @cython.locals(found=list, one=bytes, other=bytes, i=Py_ssize_t, j=Py_ssize_t, size=Py_ssize_t,
                   bit=int64_t)
    cpdef list ranges(self)
    cpdef bytes text(self)
