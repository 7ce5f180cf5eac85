from storage.rdb cimport borrowed
from storage.rdb.options cimport ReadOptions
from storage.rdb.reader cimport RdbReader
from storage.rdb.writer cimport RdbWriter


cdef class ValueType:
    cdef readonly bytes name
    cdef readonly int number
    cdef readonly tuple classes
    cdef readonly int rdb_code
    cdef readonly frozenset rdb_codes
    cdef readonly bint fields_expire
    cdef readonly bint packs
    cdef readonly object rdb_versions

    cpdef bytes packed(self, object value)
    cpdef object unpacked(self, bytes text)
    cpdef int shrink(self, object value) except -1
    cpdef bint is_empty(self, object value) except -1
    cpdef int rdb_code_of(self, object value) except -1
    cpdef int rdb_code_in(self, object value, int version) except -1
    cdef bint write_at_once(
        self, RdbWriter writer, borrowed.Borrowed key, borrowed.Borrowed value
    ) except -1
    cdef int write_head(self, RdbWriter writer, borrowed.Borrowed key, int code) except -1
    cpdef object read(self, RdbReader reader, int code, ReadOptions options)
