cimport cython
from libc.stdint cimport int64_t

from storage.keyspace cimport Keyspace
from storage.rdb.snapshot cimport Record, SnapshotReader


@cython.final
cdef class SnapshotLoader:
    cdef object _data
    cdef object _databases
    cdef object _progress
    cdef object _rules
    cdef object _options
    cdef object _monotonic_s
    cdef object _bytes_before
    cdef bint _has_begun

    @cython.locals(record=Record)
    cdef bint _load_some(self, SnapshotReader reader) except -1
    @cython.locals(db=Keyspace, key=bytes, expiry_ms=int64_t, number=int64_t)
    cdef void _put(self, Record record) except *
