cimport cython

from storage cimport octets
from storage.listpack cimport small_listpack
from storage.listpack.listpack cimport Listpack, of_dump
from storage.limits cimport SetLimits
from storage.rdb cimport borrowed
from storage.rdb.options cimport ReadOptions
from storage.rdb.reader cimport RdbReader
from storage.rdb.writer cimport RdbWriter
from storage.sets cimport borrowed_set, intset, rdb_set
from storage.sets.member_set cimport MemberSet, of_members
from storage.value_type cimport ValueType

cdef Py_ssize_t PACKED_UP_TO


cdef class SetType(ValueType):
    cpdef bytes packed(self, object value)
    @cython.locals(at=Py_ssize_t, word=bytes)
    cpdef bytes packed_words(self, list words, Py_ssize_t first, SetLimits limits)
    cpdef object unpacked(self, bytes text)
    cpdef bint is_empty(self, object value) except -1
    cpdef int rdb_code_of(self, object value) except -1
    @cython.locals(members=borrowed.Borrowed)
    cdef bint write_at_once(
        self, RdbWriter writer, borrowed.Borrowed key, borrowed.Borrowed value
    ) except -1
    cpdef object read(self, RdbReader reader, int code, ReadOptions options)
