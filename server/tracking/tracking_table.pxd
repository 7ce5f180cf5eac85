cimport cython

from storage.keyspace.key_table cimport KeyTable

cdef Py_ssize_t SET_BYTES
cdef Py_ssize_t READER_BYTES


@cython.final
cdef class TrackingTable:
    cdef KeyTable _readers
    cdef readonly Py_ssize_t items

    @cython.locals(held=object)
    cpdef remember(self, bytes key, object client_id)
    @cython.locals(held=object)
    cpdef object take(self, bytes key)
    cpdef random_key(self, object below)
    cpdef clear(self)
