from storage.rdb cimport borrowed
from storage.rdb.options cimport ReadOptions
from storage.rdb.reader cimport RdbReader
from storage.rdb.writer cimport RdbWriter
from storage.value_type cimport ValueType


cdef class StringType(ValueType):
    cdef bint write_at_once(
        self, RdbWriter writer, borrowed.Borrowed key, borrowed.Borrowed value
    ) except -1
    cpdef object read(self, RdbReader reader, int code, ReadOptions options)
