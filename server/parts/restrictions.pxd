cimport cython
from server.parts.waiting.pausing cimport Pausing
from server.parts.eviction.key_eviction cimport KeyEviction
from server.observe.memory cimport Memory
from server.observe.part cimport Part
from storage.keyspace.key_events cimport KeyEvents


@cython.final
cdef class Restrictions(Part):
    cdef Memory _memory
    cdef Pausing _pausing
    cdef object _persistence
    cdef object _replication
    cdef KeyEvents _events
    cdef KeyEviction _key_eviction
    cdef bint _replica_is_read_only
    cdef bint _serves_stale_data
    cdef object _replicas_needed
    cdef readonly bint loading
    cdef readonly bint async_loading
    cdef readonly bint stopping
    cdef readonly object busy
    cdef readonly bint short_of_memory
    cdef readonly object write_refusal
    cdef readonly bint refuses_reads
    cdef readonly bint is_replica
    cdef readonly bint hides_expired
    cdef readonly object role_refusal
    cdef bint _has_lease
    cdef readonly object confirms_nothing
    cdef readonly bint stale
    cdef readonly bint in_force
    cdef readonly bint must_check
