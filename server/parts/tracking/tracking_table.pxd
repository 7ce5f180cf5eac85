cimport cython
from libc.stdint cimport int64_t

from storage cimport allocation
from storage.keyspace.key_table cimport KeyTable
from storage.chance cimport Chance

cdef Py_ssize_t SET_BYTES
cdef Py_ssize_t READER_BYTES


@cython.final
cdef class TrackingTable:
    cdef KeyTable _readers
    cdef int64_t _held
    cdef readonly Py_ssize_t items

    @cython.locals(held=object)
    cpdef remember(self, bytes key, object client_id)
    @cython.locals(held=object)
    cpdef object take(self, bytes key)
    cpdef random_key(self, Chance chance)
    cpdef clear(self)
    cdef _grew(self, int64_t size)
