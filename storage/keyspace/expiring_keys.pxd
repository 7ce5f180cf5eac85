cimport cython
from libc.stdint cimport int64_t

from storage.keyspace.settings cimport Clock, LazyFreeing, Lookup
from storage.keyspace.key_events cimport KeyEvents
from storage.keyspace.key_table cimport KeyTable
from storage.keyspace.usage cimport Usage
from storage.side_data.side_data cimport SideData

cdef int64_t NO_TIME


cdef class ExpiringKeys:
    cdef public int index
    cdef readonly KeyEvents events
    cdef Clock _clock
    cdef Lookup _lookup
    cdef Usage _usage
    cdef LazyFreeing _freeing
    cdef KeyTable _values
    cdef KeyTable _expires
    cdef KeyTable _field_expiries
    cdef readonly dict side
    cdef bytes _asked
    cdef SideData _found
    cdef readonly object tended

    cpdef SideData side_of(self, bytes key)
    cdef int _forget_asked(self) except -1
    cpdef int64_t expiry(self, bytes key) except? -1
    cpdef expire_at(self, bytes key, object when_ms)
    cpdef bint persist(self, bytes key) except -1
    cpdef expire_fields_at(self, bytes key, object when_ms)
    cpdef bint remove(self, bytes key) except -1
    cdef int _forget_side(self, bytes key) except -1
    cpdef doom(self, bytes key)
    cpdef evict(self, bytes key)
    cpdef expire_now(self, bytes key)
    cdef _free(self, bytes key, bint lazily, bytes name)
    @cython.locals(when=int64_t)
    cdef bint _is_gone(self, bytes key) except -1
