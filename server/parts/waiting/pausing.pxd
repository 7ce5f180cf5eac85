cimport cython
from libc.stdint cimport int64_t

from server.client.client cimport Client
from server.observe.part cimport Part
from server.table.command cimport Command

cdef int MAY_WRITE
cdef int RUNS_QUEUE


@cython.final
cdef class Pausing(Part):
    cdef readonly int64_t until_ms
    cdef readonly bint writes_only
    cdef Py_ssize_t _holders
    cdef dict _held

    cpdef bint holds(self, Client client, Command command, int flags) except -1
    cpdef hold(self, Client client, list argv)
