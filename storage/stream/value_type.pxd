from storage.rdb.options cimport ReadOptions
from storage.rdb.reader cimport RdbReader
from storage.stream cimport rdb_stream
from storage.value_type cimport ValueType


cdef class StreamType(ValueType):
    cpdef int rdb_code_in(self, object value, int version) except -1
    cpdef object read(self, RdbReader reader, int code, ReadOptions options)
