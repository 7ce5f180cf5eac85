from libc.stdint cimport int64_t, uint64_t


cdef class Journal:
    cdef public int64_t now_ms
    cdef public uint64_t changes
    cdef public uint64_t expired
    cdef public uint64_t hits
    cdef public uint64_t misses
    cdef public bint keeps_expired
    cdef public bint hides_expired
    cdef public bint no_touch

    cpdef touched(self, int db, bytes key, bytes event)
    cpdef noted(self, int db, bytes key, bytes event)
    cpdef ready(self, int db, bytes key)
    cpdef gone(self, int db, bytes key)
