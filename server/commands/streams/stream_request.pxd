cimport cython
from libc.stdint cimport int64_t

from server.table.args cimport Args


@cython.final
@cython.no_gc
@cython.freelist(4)
cdef class Request:
    cdef readonly Py_ssize_t count
    cdef readonly object block_ms
    cdef readonly bytes group
    cdef readonly bytes consumer
    cdef readonly bint noack
    cdef readonly list keys
    cdef readonly Py_ssize_t ids_at


@cython.locals(request=Request, args=Args, left=Py_ssize_t, word=bytes)
cpdef Request take_request(list argv, bint with_group, int64_t now_ms)
