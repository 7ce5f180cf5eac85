cimport cython
from libc.stdint cimport int64_t, uint64_t

from storage.keyspace.key_table cimport KeyTable
from storage.keyspace.usage cimport Usage
from storage.rdb cimport borrowed, crc64
from storage.rdb.writer cimport RdbWriter
from storage cimport types
from storage.snapshot.key_walk cimport KeyWalk
from storage.value_type cimport ValueType

cdef Py_ssize_t PIECE
cdef int NO_MORE
cdef int FULL
cdef int BEGUN
cdef int EXPIRE_MS
cdef int IDLE
cdef int FREQ
cdef int64_t NO_EXPIRY


@cython.final
cdef class SnapshotWriter:
    cdef readonly int64_t keys_written
    cdef readonly int64_t keys_total
    cdef object _databases
    cdef object _aux
    cdef object _libraries
    cdef bint _checksum
    cdef RdbWriter _writer
    cdef uint64_t _crc
    cdef uint64_t _taken
    cdef list _sums
    cdef borrowed.Borrowed _class
    cdef ValueType _type

    @cython.locals(piece=bytes)
    cpdef bytes _piece(self)
    @cython.locals(writer=RdbWriter)
    cpdef int _write_head(self) except -1
    @cython.locals(writer=RdbWriter, expiry_ms=int64_t)
    cpdef int _fill(self, KeyWalk walk, KeyTable expiring, Usage usage, dict side) except -1
    cdef int _write_usage(self, int64_t last_use, Usage usage) except -1
