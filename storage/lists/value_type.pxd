cimport cython

from storage.listpack.listpack cimport Listpack, of_dump
from storage.lists cimport borrowed_list, rdb_list
from storage.lists.quicklist cimport QuickList
from storage.rdb cimport borrowed
from storage.rdb.options cimport ReadOptions
from storage.rdb.reader cimport RdbReader
from storage.rdb.writer cimport RdbWriter
from storage.value_type cimport ValueType

cdef Py_ssize_t PACKED_UP_TO


cdef class ListType(ValueType):
    @cython.locals(pack=Listpack)
    cpdef bytes packed(self, object value)
    @cython.locals(made=QuickList)
    cpdef object unpacked(self, bytes text)
    cpdef bint is_empty(self, object value) except -1
    @cython.locals(pack=borrowed.Borrowed)
    cdef bint write_at_once(
        self, RdbWriter writer, borrowed.Borrowed key, borrowed.Borrowed value
    ) except -1
    cpdef object read(self, RdbReader reader, int code, ReadOptions options)
