cimport cython
from libc.stdint cimport int64_t

from storage cimport allocation
from storage.keyspace.key_lookups cimport KeyLookups
from storage.value_type cimport ValueType


cdef class KeyChanges(KeyLookups):
    cpdef add(self, bytes key, object value, bint packs=*)
    cpdef add_packed(self, bytes key, ValueType row, bytes text)
    cdef _added(self, bytes key)
    @cython.locals(last_use=int64_t, new=bint)
    cpdef put(self, bytes key, object value, bint keep_expiry=*)
    cdef bint _tell_replaced(self, bytes key, object value) except -1
    cpdef store_string(self, bytes key, object value, Py_ssize_t grown=*)
    cpdef changed(
        self, bytes key, bytes event, Py_ssize_t changes=*, object log=*, bint wakes=*,
        bint watched=*
    )
    cpdef group_changed(
        self, bytes key, bytes event, Py_ssize_t changes=*, object log=*, bint wakes=*
    )
