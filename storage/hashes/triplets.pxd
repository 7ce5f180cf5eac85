cimport cython
from libc.stdint cimport int64_t

from storage cimport allocation
from storage.hashes.timed_fields cimport TimedFields
from storage.listpack.listpack cimport Listpack

cdef Py_ssize_t NONE
cdef int64_t NEVER
cdef int OBJECT

cdef int _append(Listpack pack, bytes field, bytes value, int64_t when_ms) except -1


@cython.final
cdef class Triplets(TimedFields):
    cdef readonly Listpack pack

    cdef int64_t _time_at(self, Py_ssize_t at) except? -1
    cdef int _take(self, Py_ssize_t at) except -1
