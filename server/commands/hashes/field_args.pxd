cimport cython
from libc.stdint cimport int64_t

from server.dispatch.call cimport Call
from server.table cimport args

cdef bytes FIELDS
cdef bytes FNX
cdef bytes FXX
cdef bytes KEEPTTL
cdef bytes PERSIST


@cython.final
@cython.freelist(4)
cdef class FieldArgs:
    cdef readonly bytes condition
    cdef readonly int64_t when_ms
    cdef readonly bint keeps_time
    cdef readonly bint persists
    cdef readonly list words

    @cython.locals(count=int64_t, end=Py_ssize_t)
    cdef Py_ssize_t _take_fields(
        self, list argv, Py_ssize_t at, str name, Py_ssize_t step
    ) except -1
