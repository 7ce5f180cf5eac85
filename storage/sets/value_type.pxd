cimport cython

from storage.rdb cimport borrowed
from storage.rdb.options cimport ReadOptions
from storage.rdb.reader cimport RdbReader
from storage.rdb.writer cimport RdbWriter
from storage.sets cimport borrowed_set, rdb_set
from storage.sets.member_set cimport MemberSet
from storage.value_type cimport ValueType


cdef class SetType(ValueType):
    cpdef bint is_empty(self, object value) except -1
    cpdef int rdb_code_of(self, object value) except -1
    @cython.locals(members=borrowed.Borrowed)
    cdef bint write_at_once(
        self, RdbWriter writer, borrowed.Borrowed key, borrowed.Borrowed value
    ) except -1
    cpdef object read(self, RdbReader reader, int code, ReadOptions options)
