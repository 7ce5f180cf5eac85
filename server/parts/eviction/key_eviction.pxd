cimport cython
from libc.stdint cimport int64_t, uint64_t

from server.observe.memory cimport Memory
from server.observe.part cimport Part
from server.process cimport ticks
from server.parts.propagation.propagation cimport Propagation
from storage.keyspace.eviction_pool cimport Candidate, EvictionPool
from storage.keyspace.key_events cimport KeyEvents
from storage.keyspace.key_table cimport KeyTable
from storage.keyspace.keyspace cimport Keyspace
from storage.chance cimport Chance

cdef int64_t AT_ONCE
cdef int64_t LONG_NS
cdef int UNRANKED


@cython.final
cdef class KeyEviction(Part):
    cdef list _databases
    cdef KeyEvents _events
    cdef Memory _memory
    cdef Propagation _propagation
    cdef readonly EvictionPool pool
    cdef Chance _chance
    cdef object _limit
    cdef str _policy_name
    cdef bint _spares_all
    cdef bint _volatile
    cdef int _rank
    cdef Py_ssize_t _samples
    cdef int64_t _time_limit_ns
    cdef bytes _removal
    cdef Py_ssize_t _last_random
    cdef bint _is_unfinished
    cdef bint _is_left_to_primary
    cdef int64_t _exceeded_since_ns
    cdef int64_t _exceeded_ns
    cdef readonly uint64_t evicted
    cdef readonly bint is_out_of_memory
    cdef public bint is_replica
    cdef public bint rests
    cdef object _latency_events
    cdef public object timers

    cpdef bint make_room(self) except -1
    cdef bint _make_room(self) except -1
    cpdef resume(self)
    @cython.locals(started_ns=int64_t, took_ns=int64_t, succeeds=bint)
    cdef bint _evict_enough(self) except -1
    @cython.locals(evicted=int64_t)
    cdef bint _evict_since(self, int64_t started_ns) except -1
    cdef _resume_soon(self)
    @cython.locals(candidate=Candidate)
    cdef bint _evict_one(self) except -1
    @cython.locals(database=Keyspace, found=bint, keys=KeyTable)
    cdef bint _sample(self) except -1
    @cython.locals(database=Keyspace, keys=KeyTable)
    cdef bint _evict_any(self) except -1
    cdef _evict(self, Keyspace database, bytes key)
    cdef _follow_policy(self)
    cdef _follow_limit(self)
    cdef _is_kept(self)
