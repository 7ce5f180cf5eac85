cimport cython
from libc.stdint cimport int64_t

from storage.keyspace.expiring_keys cimport ExpiringKeys
from storage.keyspace.key_events cimport KeyEvents

cdef Py_ssize_t LARGE


cdef class KeyLookups(ExpiringKeys):
    cpdef object find(self, bytes key, object kind)
    cpdef object read(self, bytes key, object kind)
    cpdef object lend(self, bytes key, object kind)
    cpdef give_back(self, bytes key, object value)
    cpdef object look_at(self, bytes key, bint tells_misses=*)
    cpdef object peek(self, bytes key)
    cdef object _used(self, bytes key, bint reads)
    @cython.locals(events=KeyEvents)
    cdef _count(self, bint hit, bytes key, bint tells)
    @cython.locals(keys=Py_ssize_t)
    cpdef bint is_large(self) noexcept
    cpdef int fetch(self, list keys) except -1
    @cython.locals(last_use=int64_t)
    cpdef int64_t idle_s(self, bytes key) except? -1
    @cython.locals(last_use=int64_t)
    cpdef int64_t frequency(self, bytes key) except? -1
    cpdef set_usage(self, bytes key, int64_t idle_s, int64_t frequency)


@cython.locals(is_any_string=bint)
cdef int _check_kind(object value, object kind) except -1
