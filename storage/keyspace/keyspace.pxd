cimport cython
from storage.keyspace.key_changes cimport KeyChanges
from storage.keyspace.key_table cimport KeyTable


@cython.final
cdef class Keyspace(KeyChanges):
    cpdef KeyTable keys_to_evict(self, bint volatile)
    cpdef swap(self, Keyspace other)
