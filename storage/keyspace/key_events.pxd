from libc.stdint cimport uint64_t

from storage.chance cimport Chance
from storage.keyspace.settings cimport Clock, LazyFreeing, Lookup, LooseKeys
from storage.keyspace.usage cimport Usage


cdef class KeyEvents:
    cdef readonly Clock clock
    cdef readonly Lookup lookup
    cdef readonly LooseKeys loose_keys
    cdef readonly LazyFreeing freeing
    cdef readonly Chance chance
    cdef readonly Usage usage
    cdef public uint64_t changes
    cdef public uint64_t expired
    cdef public uint64_t expired_fields
    cdef public uint64_t hits
    cdef public uint64_t misses
    cdef public bint tells_changes
    cdef public bint tells_new_keys
    cdef public bint tells_replaced
    cdef public bint tells_fields
    cdef public bint tells_misses
    cdef public bint tells_expiries
    cdef public bint measures_removals

    cpdef changed(self, int db, bytes key, bytes event, bint watched)
    cpdef added(self, int db, bytes key)
    cpdef replaced(self, int db, bytes key, bint type_changed)
    cpdef fields_changed(self, int db, bytes key, bytes event, object fields)
    cpdef missed(self, int db, bytes key)
    cpdef expires(self, int db, bytes key)
    cpdef ready(self, int db, bytes key)
    cpdef removed(self, int db, bytes key)
    cpdef side_changed(self, int db, bytes key)
    cpdef removal_began(self)
    cpdef removal_ended(self, bytes name)
    cpdef gone(self, int db, bytes key)
    cpdef fields_gone(self, int db, bytes key, object fields)
    cpdef log(self, object words)
