cimport cython
from libc.stdint cimport uint64_t

from server.observe.memory cimport Memory
from server.observe.part cimport Part
from storage.keyspace.settings cimport Clock


@cython.final
cdef class ClientEviction(Part):
    cdef dict _clients
    cdef Memory _memory
    cdef Clock _clock
    cdef bint _found_none
    cdef readonly uint64_t evicted

    cpdef bint make_room(self) except -1
    cdef _evict(self)
