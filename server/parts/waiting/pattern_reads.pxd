cimport cython

from libc.stdint cimport int64_t

from server.observe.memory cimport Memory
from server.parts.due_keys cimport DueKeys
from storage cimport glob
from storage.keyspace.keyspace cimport Keyspace


cdef class Readers:
    cdef readonly object names
    cdef readonly tuple name
    cdef readonly tuple patterns
    cdef readonly Py_ssize_t pattern_bytes
    cdef readonly bytes group
    cdef readonly bytes label
    cdef readonly bint is_dropped
    cdef readonly object keys
    cdef readonly object fresh
    cdef readonly dict kept
    cdef dict _kept_for
    cdef dict _read_ms
    cdef readonly Py_ssize_t consumer_bytes
    cdef int64_t _last_ms
    cdef object _cursor
    cdef bint _has_due
    cdef bint _is_gathered
    cdef Py_ssize_t _most_fresh
    cdef readonly DueKeys resting
    cdef readonly Py_ssize_t last
    cdef readonly dict queues
    cdef public Py_ssize_t waiters
    cdef public Py_ssize_t used_ms

    @cython.locals(pattern=bytes)
    cpdef bint match(self, bytes key) except -1
    cpdef note(self, bytes key)
    @cython.locals(key=bytes)
    cpdef list since(self, Py_ssize_t last)
    cpdef looked(self, bytes key, bint is_stale)
    cpdef rest(self, bytes key, int64_t at_ms)
    cdef _no_longer_fresh(self, bytes key)
    cpdef keep(self, bytes key, bytes consumer, int64_t at_ms)
    @cython.locals(consumer=bytes, kept=dict)
    cdef _keep_no_longer(self, bytes key)
    @cython.locals(kept=dict, key=bytes)
    cpdef bint take_kept(self, bytes consumer, Py_ssize_t most) except -1
    cpdef deny(self, bytes key)
    @cython.locals(name=bytes, oldest=bytes)
    cpdef reads(self, bytes consumer, int64_t now_ms)
    @cython.locals(at_ms=int64_t, name=bytes)
    cpdef int64_t read_ms(self, bytes consumer, int64_t now_ms) except -1
    @cython.locals(key=bytes)
    cpdef bint come_due(self, int64_t now_ms, Py_ssize_t most) except -1
    cpdef forget(self, bytes key)


cdef class StreamNames:
    cdef object _cursor
    cdef object _table
    cdef Py_ssize_t _made
    cdef bint _has_dropped
    cdef list _to_sweep
    cdef readonly Keyspace database
    cdef readonly bint is_complete
    cdef readonly dict names
    cdef readonly object readers

    cdef _begin(self)
    cpdef check(self)
    @cython.locals(readers=Readers)
    cpdef list add(self, bytes key)
    cpdef forget(self, bytes key)


@cython.final
cdef class PatternReads:
    cdef readonly bint are_used
    cdef dict _of
    cdef Memory _memory

    @cython.locals(names=StreamNames, readers=Readers, found=list)
    cpdef list ready(self, int db_index, bytes key)
    @cython.locals(names=StreamNames)
    cpdef removed(self, int db_index, bytes key)


cpdef bytes short_name(bytes name)
