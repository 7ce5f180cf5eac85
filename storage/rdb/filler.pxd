cimport cython
from libc.stdint cimport int64_t

from storage.key_table cimport KeyTable
from storage.keyspace cimport Keyspace
from storage.rdb.snapshot cimport Record, SnapshotReader

cdef int64_t NO_EXPIRY


@cython.final
cdef class Filler:
    cdef list _databases
    cdef int64_t _now_ms
    cdef bint _keeps_expired
    cdef bint _replaces
    cdef readonly int64_t keys_loaded
    cdef readonly int64_t keys_expired

    @cython.locals(record=Record, _=int64_t)
    cpdef bint fill(self, SnapshotReader reader, int64_t keys) except -1
    @cython.locals(db=Keyspace, table=KeyTable, keys=Py_ssize_t)
    cdef int _put(self, Record record) except -1
