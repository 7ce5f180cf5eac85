cimport cython
from libc.stdint cimport int64_t

from storage cimport allocation
from storage.keyspace.clock cimport Clock
from storage.keyspace.key_events cimport KeyEvents
from storage.keyspace.key_table cimport KeyTable
from storage.keyspace.lazy_freeing cimport LazyFreeing
from storage.keyspace.lookup cimport Lookup
from storage.keyspace.usage cimport Usage
from storage.value_type cimport ValueType

cdef int64_t NO_TIME
cdef Py_ssize_t LARGE


cdef class Keyspace:
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

    @cython.locals(keys=Py_ssize_t)
    cpdef bint is_large(self) noexcept
    cpdef int fetch(self, list keys) except -1
    cpdef object get(self, bytes key)
    cdef object _get(self, bytes key, bint reads)
    cpdef object peek(self, bytes key)
    cpdef object find(self, bytes key, object kind)
    cpdef object lend(self, bytes key, object kind)
    cpdef give_back(self, bytes key, object value)
    cpdef object read(self, bytes key, object kind)
    cpdef object find_string(self, bytes key)
    cpdef object read_string(self, bytes key)
    cpdef object read_any(self, bytes key)
    cpdef bint has(self, bytes key) except -1
    cpdef object look_at(self, bytes key)
    cpdef object kind_at(self, bytes key)
    cpdef swap(self, Keyspace other)
    cpdef add(self, bytes key, object value)
    cpdef keep(self, bytes key, object value)
    cpdef keep_packed(self, bytes key, ValueType row, bytes text)
    cpdef put(self, bytes key, object value, bint keep_expiry=*)
    cpdef store_string(self, bytes key, object value, Py_ssize_t grown=*)
    cpdef bint remove(self, bytes key) except -1
    cpdef changed(
        self, bytes key, bytes event, Py_ssize_t changes=*, object log=*, bint wakes=*
    )
    cpdef group_changed(
        self, bytes key, bytes event, Py_ssize_t changes=*, object log=*, bint wakes=*
    )
    cdef _tell(
        self, bytes key, bytes event, Py_ssize_t changes, bint watched, object log, bint wakes
    )
    @cython.locals(last_use=int64_t)
    cpdef int64_t idle_s(self, bytes key) except? -1
    @cython.locals(last_use=int64_t)
    cpdef int64_t frequency(self, bytes key) except? -1
    cpdef set_usage(self, bytes key, int64_t idle_s, int64_t frequency)
    @cython.locals(last_use=int64_t)
    cdef int64_t _next_use(self, bytes key) except? -1
    cpdef int64_t expiry(self, bytes key) except? -1
    cpdef expire_at(self, bytes key, object when_ms)
    cpdef expire_fields_at(self, bytes key, object when_ms)
    cpdef bint persist(self, bytes key) except -1
    cpdef evict(self, bytes key)
    cpdef KeyTable keys_to_evict(self, bint volatile)
    cpdef expire_now(self, bytes key)
    cdef _free(self, bytes key, bint lazily, bytes name)
    @cython.locals(when=int64_t)
    cdef bint _expire_if_due(self, bytes key) except -1
    cdef _count(self, bint hit, bytes key)
