cimport cython

from storage.hash_table cimport borrowed_packed
from storage.hashes cimport borrowed_hash, rdb_hash
from storage.hashes.hash cimport Hash, of_pack
from storage.listpack cimport small_listpack
from storage.listpack.listpack cimport Listpack, of_dump
from storage.limits cimport ListpackLimits
from storage.rdb cimport borrowed
from storage.rdb.options cimport ReadOptions
from storage.rdb.reader cimport RdbReader
from storage.rdb.writer cimport RdbWriter
from storage.value_type cimport ValueType

cdef Py_ssize_t PACKED_UP_TO
cdef Py_ssize_t SHORT_TABLE


cdef class HashType(ValueType):
    @cython.locals(pack=Listpack)
    cpdef bytes packed(self, object value)
    cpdef bytes packed_words(self, list words, Py_ssize_t first, ListpackLimits limits)
    cpdef object unpacked(self, bytes text)
    cpdef int shrink(self, object value) except -1
    cpdef bint is_empty(self, object value) except -1
    cpdef int rdb_code_of(self, object value) except -1
    @cython.locals(pack=borrowed.Borrowed, table=borrowed.Borrowed)
    cdef bint write_at_once(
        self, RdbWriter writer, borrowed.Borrowed key, borrowed.Borrowed value
    ) except -1
    cpdef object read(self, RdbReader reader, int code, ReadOptions options)
