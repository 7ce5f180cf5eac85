from libc.stdint cimport uint64_t

from storage.keyspace.clock cimport Clock
from storage.keyspace.lookup cimport Lookup


cdef class KeyEvents:
    cdef readonly Clock clock
    cdef readonly Lookup lookup
    cdef public uint64_t changes
    cdef public uint64_t expired
    cdef public uint64_t hits
    cdef public uint64_t misses

    cpdef changed(self, int db, bytes key, bytes event, bint watched)
    cpdef ready(self, int db, bytes key)
    cpdef gone(self, int db, bytes key)
    cpdef log(self, object words)
