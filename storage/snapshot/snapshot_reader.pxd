cimport cython
from libc.stdint cimport int64_t, uint64_t

from storage cimport types
from storage.rdb.options cimport ReadOptions
from storage.rdb.reader cimport RdbReader
from storage.value_type cimport ValueType

cdef Py_ssize_t CHECKSUM_STEP
cdef int UNKNOWN
cdef uint64_t I64_MAX
cdef int FIRST_OPCODE
cdef int EOF


@cython.final
@cython.freelist(8)
cdef class Record:
    cdef readonly int64_t db
    cdef readonly bytes key
    cdef readonly object value
    cdef readonly int64_t expiry_ms
    cdef readonly int64_t field_expiry_ms
    cdef readonly int64_t idle_s
    cdef readonly int64_t freq
    cdef readonly bytes side
    cdef readonly Py_ssize_t end


@cython.final
cdef class SnapshotReader:
    cdef readonly dict aux
    cdef readonly list functions
    cdef readonly int64_t modules
    cdef readonly int64_t empty_keys
    cdef readonly int version
    cdef readonly bint checksummed
    cdef readonly int64_t parts
    cdef readonly Py_ssize_t end
    cdef RdbReader _reader
    cdef ReadOptions _options
    cdef int64_t _db
    cdef uint64_t _crc
    cdef Py_ssize_t _summed
    cdef Py_ssize_t _right_to
    cdef Py_ssize_t _at
    cdef int _code
    cdef ValueType _type
    cdef int64_t _expiry_ms
    cdef int64_t _idle_s
    cdef int64_t _freq
    cdef bytes _side
    cdef bytes _beside

    cdef int _forget_attributes(self) noexcept
    cpdef Record read(self)
    @cython.locals(reader=RdbReader, code=int, key=bytes, record=Record)
    cdef Record _read_key(self)
    cdef object _read_value(self, int code, bytes key)
    @cython.locals(record=Record)
    cdef Record _record(self, bytes key, object value)
    @cython.locals(reader=RdbReader, name=bytes, text=bytes)
    cdef int _read_opcode(self, int code) except -1
    @cython.locals(reader=RdbReader, here=Py_ssize_t)
    cdef int _compare(self, bytes text) except -1
    cdef int _sum_up(self) noexcept
    @cython.locals(reader=RdbReader, checksum=uint64_t)
    cdef int _finish(self) except -1


@cython.locals(code=uint64_t)
cpdef int pass_module_aux(RdbReader reader) except -1
