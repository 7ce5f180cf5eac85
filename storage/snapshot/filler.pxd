cimport cython
from libc.stdint cimport int64_t

from storage.keyspace.key_table cimport KeyTable
from storage.keyspace.keyspace cimport Keyspace
from storage.keyspace.usage cimport Usage
from storage.snapshot.snapshot_reader cimport Record, SnapshotReader

cdef int64_t NO_EXPIRY
cdef Py_ssize_t MOST_KEYS
cdef Py_ssize_t MOST_BYTES
cdef int TOP
cdef Py_hash_t SHELVES


@cython.final
cdef class Filler:
    cdef list _databases
    cdef int64_t _now_ms
    cdef bint _keeps_expired
    cdef bint _replaces
    cdef list _shelves
    cdef readonly int64_t keys_loaded
    cdef readonly int64_t keys_expired

    @cython.locals(shelf=list, record=Record)
    cpdef bint fill(self, SnapshotReader reader) except -1
    @cython.locals(stop=Py_ssize_t, _=Py_ssize_t, record=Record, shelf=list)
    cdef bint _read_ahead(self, SnapshotReader reader) except -1
    @cython.locals(db=Keyspace, table=KeyTable, keys=Py_ssize_t, usage=Usage)
    cdef int _put(self, Record record) except -1
